ACTOR inline Future<Void> a(int x);
ACTOR template <class> Future<Void> b(int x);
ACTOR [[flow_discard]] Future<Void> c(int x);
ACTOR FutureAlias d(int x);
ACTOR e(int x);
ACTOR Future<Void> g(int, int y[3], void (*z)(int)) noexcept;
ACTOR Future<Void> h(std::string& x, Map<int, int>& y, const int& z);
ACTOR Future<Void> i;

template <class T>
ACTOR Future<T> behind(Future<T> f) {
    T value = wait(f);
    return value;
}

struct Servant {
    static ACTOR Future<Void> serve(Servant* self) {
        wait(delay(1));
        return Void();
    }
    virtual ACTOR Future<Void> work(Servant* self);
};

using Done = Future<Void>;
ACTOR Done aliased(Future<Void> f) {
    wait(f);
    return Void();
}

ACTOR inline Future<Void> told(Future<Void> f) {
    wait(f);
    return Void();
}

ACTOR Future<void> nothing(Future<Void> f) {
    wait(f);
    return Void();
}

ACTOR future<int> small(Future<int> f);
ACTOR std::future<int> standard(Future<int> f);
ACTOR FutureStream<int> stream(Future<int> f);
ACTOR StrictFuture<int> strict(Future<int> f);
ACTOR Future<std::vector<int> unclosed(int x);
ACTOR Future<int>> closed(int x);
ACTOR Future bare(int x);
ACTOR auto trailing(int x) -> Future<int> {
    wait(delay(1));
    return x;
}
ACTOR template <class T> requires true
Future<int> constrained(T x);
ACTOR ACTOR Future<int> twice(int x);
struct Made {
    ACTOR Made(int x);
};
ACTOR Made::Made() {
    wait(delay(1));
}

ACTOR Future<int> braceless(Future<int> f)
    int value = wait(f);
    return value;
}

ACTOR [[nodiscard] Future<int> bracket(int x) {
    wait(delay(1));
    return x;
}

ACTOR Future<std::string const&> reference(Future<Void> f) {
    wait(f);
    return name;
}
