#include "flow/trace/detail/event_receiver.h"
#include "flow/trace/event_text.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

namespace flow::trace {
namespace {

EnvironmentLog const* readEnvironment() {
    char const* text = std::getenv("MILLRACE_LOG");
    if (!text || *text == '\0')
        return nullptr;
    auto* log = new EnvironmentLog; // for as long as the program runs
    std::string wrong;
    for (std::string_view word : wordsOf(text)) {
        if (word == "json")
            log->format = TraceFormat::Json;
        else if (word == "text")
            log->format = TraceFormat::Text;
        else if (!log->levels.add(word))
            wrong.append(wrong.empty() ? "\"" : ", \"").append(word) += '"';
    }
    if (!wrong.empty())
        std::fprintf(stderr,
                     "flow: MILLRACE_LOG has wrong words, which do nothing: %s; each word must be debug, info, warn, "
                     "error, off, AREA=LEVEL, text or json\n",
                     wrong.c_str());
    hearOfErrors();
    return log;
}

} // namespace

EnvironmentLog const* environmentLog() {
    static EnvironmentLog const* const log = readEnvironment();
    return log;
}

void writeToStandardError(std::string_view line) {
    static bool const isText = environmentLog() && environmentLog()->format
                                   ? environmentLog()->format == TraceFormat::Text
                                   : ::isatty(STDERR_FILENO) == 1;
    std::string out;
    if (isText)
        appendEventText(out, line);
    else
        out = line;
    out += '\n';
    for (std::string_view rest = out; !rest.empty();) {
        ssize_t written = ::write(STDERR_FILENO, rest.data(), rest.size());
        if (written > 0)
            rest.remove_prefix(static_cast<std::size_t>(written));
        else if (written == 0 || errno != EINTR)
            return;
    }
}

} // namespace flow::trace
