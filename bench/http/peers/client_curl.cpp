// A client of bench/http with the multi interface of libcurl, on epoll: prints what bench/http/client.cpp prints.

#include "../../client_row.h"

#include <curl/curl.h>

#include <cerrno>
#include <cstdlib>
#include <sys/epoll.h>
#include <unistd.h>

namespace {

int const poller = ::epoll_create1(EPOLL_CLOEXEC);
int milliseconds = 0; // that curl wants to wait at most

int watch(CURL*, curl_socket_t socket, int what, void*, void*) {
    if (what == CURL_POLL_REMOVE)
        return ::epoll_ctl(poller, EPOLL_CTL_DEL, socket, nullptr);
    epoll_event event = {};
    event.data.fd = socket;
    event.events = (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
    int result = ::epoll_ctl(poller, EPOLL_CTL_ADD, socket, &event);
    return result != 0 && errno == EEXIST ? ::epoll_ctl(poller, EPOLL_CTL_MOD, socket, &event) : result;
}

int setTimer(CURLM*, long wanted, void*) {
    milliseconds = static_cast<int>(wanted);
    return 0;
}

std::size_t drop(char*, std::size_t size, std::size_t count, void*) {
    return size * count;
}

void fail(char const* what) {
    std::fprintf(stderr, "http_client_curl: %s\n", what);
    std::exit(1);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4)
        fail("usage: http_client_curl URL CONNECTIONS SECONDS");
    std::vector<std::uint64_t> asked(static_cast<std::size_t>(std::atoi(argv[2])));
    curl_global_init(CURL_GLOBAL_ALL);
    CURLM* multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, setTimer);
    bench::ClientRow row(std::atof(argv[3]));
    for (std::uint64_t& each : asked) {
        CURL* easy = curl_easy_init();
        curl_easy_setopt(easy, CURLOPT_URL, argv[1]);
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop);
        curl_easy_setopt(easy, CURLOPT_PRIVATE, &each);
        each = bench::ClientRow::now();
        curl_multi_add_handle(multi, easy);
    }
    for (std::size_t running = asked.size(); running != 0;) {
        epoll_event events[256];
        int count = ::epoll_wait(poller, events, 256, milliseconds), left = 0;
        if (count == 0)
            curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &left);
        for (int i = 0; i < count; ++i) {
            int what = (events[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) |
                       (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0);
            curl_multi_socket_action(multi, events[i].data.fd, what, &left);
        }
        while (CURLMsg* message = curl_multi_info_read(multi, &left)) {
            if (message->msg != CURLMSG_DONE)
                continue;
            CURL* easy = message->easy_handle;
            long status = 0;
            char* begun = nullptr;
            curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
            curl_easy_getinfo(easy, CURLINFO_PRIVATE, &begun);
            if (message->data.result != CURLE_OK || status != 200)
                fail(curl_easy_strerror(message->data.result));
            auto& begin = *reinterpret_cast<std::uint64_t*>(begun);
            row.add(begin);
            curl_multi_remove_handle(multi, easy);
            if (row.goesOn()) {
                begin = bench::ClientRow::now();
                curl_multi_add_handle(multi, easy);
            } else {
                --running;
                curl_easy_cleanup(easy);
            }
        }
    }
    row.print();
    curl_multi_cleanup(multi);
}
