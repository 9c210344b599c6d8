ACTOR inline Future<Void> a(int x);
ACTOR template <class> Future<Void> b(int x);
ACTOR [[flow_discard]] Future<Void> c(int x);
ACTOR FutureAlias d(int x);
ACTOR e(int x);
ACTOR Future<Void> g(int, int y[3], void (*z)(int)) noexcept;
ACTOR Future<Void> h(std::string& x, Map<int, int>& y, const int& z);
ACTOR Future<Void> i;
