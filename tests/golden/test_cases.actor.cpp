TEST_CASE("/a/declared");
TEST_CASE("/a/one") { return Void(); } TEST_CASE("/a/two") { return Void(); }
TEST_CASE() { return Void(); }
TEST_CASE("/a/with text") const { return Void(); }
struct X {
    TEST_CASE("/a/in class") { return Void(); }
};
TEST_CASE("/a/no return") { wait(f()); }
