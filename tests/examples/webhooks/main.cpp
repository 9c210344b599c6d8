// webhooks PORT (JOURNAL | --database URL) NAME=URL... [--certificate FILE --key FILE] [--log FILE]: accepts events for
// these receivers at that port of this machine, and delivers them. It keeps them in a journal, or in the database of
// PostgreSQL at the URL. SIGTERM and SIGINT end it in order. One that has ended, in whatever way, is started again with
// the same JOURNAL or URL. With a certificate it speaks TLS; when certificate or key have changed, and on SIGHUP, it
// reads them again. On SIGHUP it also opens the log again, which logrotate has renamed.

#include "flow/base/parse_number.h"
#include "flow/trace/sink.h"
#include "flow/wait/signals.h"
#include "net/file_watch.h"
#include "net/http/client_tls.h"
#include "net/tls/tls_listener.h"
#include "webhooks.h"

#include <csignal>
#include <cstdio>
#include <cstring>

using namespace flow;
using namespace flow::net;

namespace {

struct Program {
    std::uint16_t port = 0;
    std::string journal, database; // one of them
    TlsIdentity identity;
    WebhookOptions service;
    std::optional<TraceFile> log;
};

Reference<TlsContext> tlsContext(Program const& program) {
    TlsServerOptions options;
    options.identities = {program.identity};
    options.protocols = {"h2", "http/1.1"};
    return TlsContext::server(options);
}

Future<Void> reopenLog(TraceFile* log) {
    for (;;) {
        co_await signals({SIGHUP});
        log->reopen();
    }
}

Future<Void> renewCertificate(Program* program, Reference<TlsListener> listener, FileWatch* files) {
    for (;;) {
        co_await race(files->changed(), signals({SIGHUP}));
        try {
            listener->setContext(tlsContext(*program));
        } catch (Error& error) { // the old certificate stays; perhaps the key has not been replaced yet
            TraceEvent(SevWarn, "CertificateNotRead").error(error);
        }
    }
}

Future<Void> run(Program* program) {
    Reference<Listener> listener = transport().listen(Address(0x7F000001, program->port));
    Reference<TlsListener> tls;
    if (!program->identity.certificate.empty()) {
        tls = makeReference<TlsListener>(listener, tlsContext(*program));
        listener = tls;
    }
    std::printf("listening at %s\n", listener->localAddress().toString().c_str());
    std::fflush(stdout);
    Future<int> stop = keep(signals({SIGTERM, SIGINT}));
    std::optional<FileWatch> files;
    Scope scope;
    if (program->log)
        scope.spawn(reopenLog(&*program->log));
    if (tls) {
        std::vector<std::string> paths{program->identity.certificate, program->identity.key};
        files.emplace(paths);
        scope.spawn(renewCertificate(program, tls, &*files));
    }
    Future<Reference<Outbox>> opening =
        program->database.empty() ? openJournal(program->journal) : openDatabase(program->database);
    Reference<Outbox> outbox = co_await std::move(opening);
    Future<Void> serving = serveWebhooks(listener, outbox, program->service, success(stop));
    co_await std::move(serving);
}

bool parse(int argc, char** argv, Program& program) {
    std::vector<std::string> words;
    for (int i = 1; i < argc; ++i) {
        std::string word = argv[i];
        if (!word.starts_with("--")) {
            words.push_back(word);
            continue;
        }
        if (++i == argc)
            return false;
        if (word == "--database")
            program.database = argv[i];
        else if (word == "--certificate")
            program.identity.certificate = argv[i];
        else if (word == "--key")
            program.identity.key = argv[i];
        else if (word == "--log")
            program.log.emplace(TraceFileOptions{.path = argv[i], .levels = "info", .rotateBytes = 1 << 20, .keep = 3});
        else
            return false;
    }
    std::size_t first = program.database.empty() ? 2 : 1; // of the receivers
    auto port = words.size() > first ? parseNumber<std::uint16_t>(words[0]) : std::nullopt;
    if (!port || program.identity.certificate.empty() != program.identity.key.empty())
        return false;
    program.port = *port;
    program.journal = words[1];
    for (std::size_t i = first; i < words.size(); ++i) {
        std::size_t equals = words[i].find('=');
        if (equals == std::string::npos)
            return false;
        program.service.receivers[words[i].substr(0, equals)] = words[i].substr(equals + 1);
    }
    return true;
}

} // namespace

int main(int argc, char** argv) {
    try {
        Program program;
        if (!parse(argc, argv, program)) {
            std::fprintf(stderr,
                         "usage: webhooks PORT (JOURNAL | --database URL) NAME=URL... [--certificate FILE --key FILE] "
                         "[--log FILE]\n");
            return 2;
        }
        program.service.client.encrypt = http::tlsConnector();
        RealLoop loop;
        loop.run(run(&program));
    } catch (Error& e) {
        std::fprintf(stderr, "webhooks: %s\n", e.what());
        return 1;
    }
}
