#pragma once
// Redis: a client of a Redis server, over hiredis (0.14 or 1.x), without a thread.
//
//     Redis redis("/run/redis.sock");                      // or Redis redis("127.0.0.1", 6379): no name
//     Reply count = co_await redis.command("INCR", key);
//
// All tasks of a loop share a connection: commands are sent at once, without waiting for earlier replies. A dropped
// command may still run, and its reply is thrown away. command() throws operation_failed with the server's sentence.
// When the connection has ended, commands throw connection_failed: make a new Redis. The constructor may throw
// connection_failed, too.

#include "flow/flow.h"
#include "flow/sync/event.h"
#include "flow/sync/trigger.h"
#include "net/file_descriptor.h"

#include <hiredis/async.h>
#include <memory>

namespace flow::net {

struct Reply {
    int type = REDIS_REPLY_NIL;
    long long number = 0;
    std::string text;
    std::vector<Reply> parts;

    static Reply of(redisReply const& from) {
        Reply reply{from.type, from.integer, std::string(from.str ? from.str : "", from.str ? from.len : 0), {}};
        for (std::size_t i = 0; i < from.elements; ++i)
            reply.parts.push_back(of(*from.element[i]));
        return reply;
    }
};

class Redis {
public:
    explicit Redis(std::string const& path) : Redis(redisAsyncConnectUnix(path.c_str())) {}
    Redis(std::string const& address, int port) : Redis(redisAsyncConnect(address.c_str(), port)) {}
    Redis(Redis const&) = delete;
    ~Redis() {
        driving_ = Future<Void>(); // nothing waits for the socket when redisAsyncFree() closes it
        if (context_)
            redisAsyncFree(context_); // calls onReply() for each command that has no reply
    }

    template <class... Words>
    Future<Reply> command(Words const&... words) {
        return command(std::vector{std::string_view(words)...});
    }
    Future<Reply> command(std::vector<std::string_view> const& words) {
        std::vector<char const*> texts;
        std::vector<std::size_t> sizes;
        for (std::string_view each : words) {
            texts.push_back(each.data());
            sizes.push_back(each.size());
        }
        auto question = std::make_shared<Question>();
        auto data = std::make_unique<std::shared_ptr<Question>>(question);
        if (!context_ || redisAsyncCommandArgv(context_, onReply, data.get(), static_cast<int>(words.size()),
                                               texts.data(), sizes.data()) != REDIS_OK)
            throw connection_failed().withSentence(end_);
        (void)data.release(); // onReply() will be called
        return replyTo(std::move(question));
    }

private:
    struct Question {
        Event isAnswered; // its waiter resumes in a turn of its own, and not inside of hiredis
        Reply reply;
        Error error;
    };

    explicit Redis(redisAsyncContext* context) : context_(context), socket_(context->c.fd) {
        if (context->err != 0) {
            end_ = context->errstr;
            redisAsyncFree(context);
            throw connection_failed().withSentence(end_);
        }
        context->data = context->ev.data = this;
        context->ev.addRead = [](void* self) { static_cast<Redis*>(self)->want(&Wanted::reading, true); };
        context->ev.delRead = [](void* self) { static_cast<Redis*>(self)->want(&Wanted::reading, false); };
        context->ev.addWrite = [](void* self) { static_cast<Redis*>(self)->want(&Wanted::writing, true); };
        context->ev.delWrite = [](void* self) { static_cast<Redis*>(self)->want(&Wanted::writing, false); };
        context->ev.cleanup = [](void* self) { static_cast<Redis*>(self)->context_ = nullptr; }; // hiredis deletes it
        driving_ = drive();
    }

    void want(bool Wanted::* what, bool isWanted) {
        wanted_.*what = isWanted;
        changed_.trigger();
    }
    /// Calls hiredis when its socket is ready. While hiredis runs, nothing waits for the socket, so hiredis may close
    /// it.
    Future<Void> drive() {
        while (context_) {
            Trigger::Next changed = changed_.next();
            std::vector<FileDescriptor::Wait> waits;
            if (wanted_.reading)
                waits.push_back(socket_.readable());
            if (wanted_.writing)
                waits.push_back(socket_.writable());
            bool isReader = wanted_.reading;
            Future<Winner<Void>> ready = race(std::move(waits));
            auto next = co_await race(std::move(ready), changed);
            if (next.index() == 1) // wanted_ has changed
                continue;
            if (isReader && std::get<0>(next).index() == 0)
                redisAsyncHandleRead(context_);
            else
                redisAsyncHandleWrite(context_);
        }
    }
    static void onReply(redisAsyncContext* context, void* reply, void* data) {
        std::unique_ptr<std::shared_ptr<Question>> question(static_cast<std::shared_ptr<Question>*>(data));
        std::string& end = static_cast<Redis*>(context->data)->end_;
        if (context->err != 0)
            end = context->errstr;
        if (reply)
            (*question)->reply = Reply::of(*static_cast<redisReply*>(reply));
        else
            (*question)->error = connection_failed().withSentence(end);
        (*question)->isAnswered.set();
    }
    static Future<Reply> replyTo(std::shared_ptr<Question> question) {
        co_await question->isAnswered.wait();
        if (question->error.isValid())
            throw question->error;
        if (question->reply.type == REDIS_REPLY_ERROR)
            throw operation_failed().withSentence(question->reply.text);
        co_return std::move(question->reply);
    }

    redisAsyncContext* context_; // null: the connection has ended
    std::string end_ = "the connection to the Redis server has ended";
    FileDescriptor socket_;
    Wanted wanted_;
    Trigger changed_; // wanted_ has changed
    Future<Void> driving_;
};

} // namespace flow::net
