#pragma once
// Curl: requests by libcurl's multi interface, without a thread.
//
//     Curl curl;
//     Curl::Answer page = co_await curl.get("https://example.org/");
//
// Any number of requests run at the same time. get() throws io_error with libcurl's sentence, also if a request takes
// longer than `seconds`. Dropping the future ends the request. A Curl belongs to a loop, and must outlive its requests.

#include "flow/flow.h"
#include "flow/sync/event.h"
#include "flow/sync/trigger.h"
#include "net/file_descriptor.h"

#include <cmath>
#include <curl/curl.h>
#include <map>

namespace flow::net {

class Curl {
public:
    struct Answer {
        long status = 0;
        std::string body;
    };

    Curl() {
        curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, onSocket);
        curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
        curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, onTimer);
        curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
        timer_ = runTimer();
    }
    ~Curl() {
        timer_ = Future<Void>();
        sockets_.clear();
        curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, nullptr);
        curl_multi_cleanup(multi_);
    }

    Future<Answer> get(std::string url, double seconds = 300) {
        Transfer transfer(multi_);
        curl_easy_setopt(transfer.easy, CURLOPT_URL, url.c_str());
        curl_easy_setopt(transfer.easy, CURLOPT_TIMEOUT_MS, static_cast<long>(seconds * 1000));
        curl_multi_add_handle(multi_, transfer.easy); // only sets the timer
        co_await transfer.isDone.wait();
        if (transfer.result != CURLE_OK)
            throw io_error().withSentence(url + ": " + curl_easy_strerror(transfer.result));
        curl_easy_getinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &transfer.answer.status);
        co_return std::move(transfer.answer);
    }

private:
    struct Transfer {
        explicit Transfer(CURLM* m) : multi(m) {
            curl_easy_setopt(easy, CURLOPT_PRIVATE, this);
            curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
            curl_easy_setopt(easy, CURLOPT_WRITEDATA, &answer.body);
            curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, append);
        }
        ~Transfer() {
            curl_multi_remove_handle(multi, easy); // may close its socket, after onSocket()
            curl_easy_cleanup(easy);
        }
        static std::size_t append(char* bytes, std::size_t, std::size_t size, void* body) {
            static_cast<std::string*>(body)->append(bytes, size);
            return size;
        }
        CURLM* multi;
        CURL* easy = curl_easy_init();
        Answer answer;
        CURLcode result = CURLE_OK;
        Event isDone; // its waiter resumes in a turn of its own, and not inside of libcurl
    };
    struct Socket {
        explicit Socket(curl_socket_t number) : descriptor(number) {}
        FileDescriptor descriptor;
        int wanted = CURL_POLL_NONE;
        Future<Void> watching;
    };

    /// Called when libcurl wants other events of a socket, or will close it: then nothing may wait for the socket.
    static int onSocket(CURL*, curl_socket_t number, int wanted, void* data, void*) {
        Curl& self = *static_cast<Curl*>(data);
        Socket& socket = self.sockets_.try_emplace(number, number).first->second;
        socket.wanted = wanted;
        bool isActing = &socket == self.acting_; // its watch() has called libcurl, and goes on after this call
        if (!isActing)
            socket.watching = Future<Void>();
        if (wanted == CURL_POLL_REMOVE && isActing)
            self.removed_ = self.sockets_.extract(number);
        else if (wanted == CURL_POLL_REMOVE)
            self.sockets_.erase(number);
        else if (!isActing)
            socket.watching = self.watch(&socket);
        return 0;
    }
    static int onTimer(CURLM*, long milliseconds, void* data) {
        Curl& self = *static_cast<Curl*>(data);
        self.due_ = milliseconds < 0 ? HUGE_VAL : timer() + static_cast<double>(milliseconds) / 1000;
        self.dueChanged_.trigger();
        return 0;
    }

    Future<Void> watch(Socket* socket) {
        while (socket->wanted & CURL_POLL_INOUT) {
            int events = socket->wanted == CURL_POLL_OUT ? CURL_CSELECT_OUT : CURL_CSELECT_IN;
            if (socket->wanted == CURL_POLL_INOUT) {
                auto first = co_await race(socket->descriptor.readable(), socket->descriptor.writable());
                events = first.index() == 0 ? CURL_CSELECT_IN : CURL_CSELECT_OUT;
            } else if (events == CURL_CSELECT_OUT) {
                co_await socket->descriptor.writable();
            } else {
                co_await socket->descriptor.readable();
            }
            act(socket->descriptor.number(), events, socket);
        }
    }
    Future<Void> runTimer() {
        for (;;) {
            auto next = co_await race(dueChanged_.next(), delayUntil(due_));
            if (next.index() == 1) {
                due_ = HUGE_VAL;
                act(CURL_SOCKET_TIMEOUT, 0, nullptr);
            }
        }
    }
    void act(curl_socket_t number, int events, Socket* acting) {
        int count;
        acting_ = acting;
        curl_multi_socket_action(multi_, number, events, &count);
        acting_ = nullptr;
        while (CURLMsg* message = curl_multi_info_read(multi_, &count)) {
            Transfer* transfer;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
            transfer->result = message->data.result;
            transfer->isDone.set();
        }
    }
    CURLM* multi_ = curl_multi_init();
    std::map<curl_socket_t, Socket> sockets_;
    std::map<curl_socket_t, Socket>::node_type removed_; // a socket that was removed during its watch()
    Socket* acting_ = nullptr;
    double due_ = HUGE_VAL;
    Trigger dueChanged_;
    Future<Void> timer_;
};

} // namespace flow::net
