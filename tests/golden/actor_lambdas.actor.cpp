ACTOR Future<int> sum(Future<int> a) {
    auto b = ACTOR [=](int x) -> Future<int> { int y = wait(a); return x + y; };
    auto c = ACTOR [this, &, a..., 3](auto x) -> Future<int> { return wait(a); };
    auto d = ACTOR [a]<class T>(T x) mutable { return wait(a); };
    auto e = ACTOR [a]() -> int { if (wait(a)) break; };
    auto f = [a] { return wait(a); };
    auto g = ACTOR [a, x = wait(a)](int a) -> Future<int> { wait(a); };
    auto h = ACTOR [a]() -> Future<int>;
    return wait(b(1));
}
void plain() {
    run(ACTOR [*this]() -> Future<Void> { state int x[3]; return Void(); });
}
