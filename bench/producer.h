#pragma once
// Producer: a thread that does a piece of work each time that it is asked to.

#include <atomic>
#include <functional>
#include <thread>

namespace bench {

class Producer {
public:
    /// `produce` runs on the new thread, once for each produce().
    explicit Producer(std::function<void()> produce) : thread_([this, produce] { serve(produce); }) {}
    Producer(Producer const&) = delete;
    Producer& operator=(Producer const&) = delete;
    ~Producer() {
        ended_ = true;
        produce();
        thread_.join();
    }

    void produce() {
        ordered_.fetch_add(1);
        ordered_.notify_one();
    }

private:
    void serve(std::function<void()> const& produce) {
        for (int done = 0;; ++done) {
            ordered_.wait(done);
            if (ended_)
                return;
            produce();
        }
    }

    std::atomic<int> ordered_ = 0;
    std::atomic<bool> ended_ = false;
    std::thread thread_;
};

} // namespace bench
