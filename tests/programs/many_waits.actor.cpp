// More waits in one actor than fit a byte, and a choose with as many branches as any real program has.
#include "flow/sim.h"
#include "trace.h"
#include "flow/actorcompiler.h"

ACTOR Future<int> waits(Future<int> one) {
    state int s = 0; state Future<int> late = delayed(one, 1); s = wait(map(one, [s = s](int n) { return s + n; }));
    int x2 = wait(one); s += x2; if (s % 2 == 0) { wait(success(late)); s++; }
    try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; } wait(delay(0));
    s = wait(map(one, [s = s](int n) { return s + n; })); int x7 = wait(one); s += x7;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x12 = wait(one); s += x12;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x17 = wait(one); s += x17;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x22 = wait(one); s += x22;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x27 = wait(one); s += x27;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x32 = wait(one); s += x32;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x37 = wait(one); s += x37;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x42 = wait(one); s += x42;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x47 = wait(one); s += x47;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x52 = wait(one); s += x52;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x57 = wait(one); s += x57;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x62 = wait(one); s += x62;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x67 = wait(one); s += x67;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x72 = wait(one); s += x72;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x77 = wait(one); s += x77;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x82 = wait(one); s += x82;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x87 = wait(one); s += x87;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x92 = wait(one); s += x92;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x97 = wait(one); s += x97;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x102 = wait(one); s += x102;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x107 = wait(one); s += x107;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x112 = wait(one); s += x112;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x117 = wait(one); s += x117;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x122 = wait(one); s += x122;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x127 = wait(one); s += x127;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x132 = wait(one); s += x132;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x137 = wait(one); s += x137;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x142 = wait(one); s += x142;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); s = wait(map(one, [s = s](int n) { return s + n; })); int x147 = wait(one); s += x147;
    if (s % 2 == 0) { wait(success(late)); s++; } try { wait(Future<Void>(timed_out())); } catch (Error&) { s++; }
    wait(delay(0)); return s;
}

ACTOR Future<int> chooses(std::vector<FutureStream<int>> in, Future<Void> end) {
    state int sum = 0;
    loop choose {
        when(int n = waitNext(in[0])) { sum += 0 * n; }
        when(int n = waitNext(in[1])) { sum += 1 * n; }
        when(int n = waitNext(in[2])) { sum += 2 * n; }
        when(int n = waitNext(in[3])) { sum += 3 * n; }
        when(int n = waitNext(in[4])) { sum += 4 * n; }
        when(int n = waitNext(in[5])) { sum += 5 * n; }
        when(int n = waitNext(in[6])) { sum += 6 * n; }
        when(int n = waitNext(in[7])) { sum += 7 * n; }
        when(int n = waitNext(in[8])) { sum += 8 * n; }
        when(int n = waitNext(in[9])) { sum += 9 * n; }
        when(int n = waitNext(in[10])) { sum += 10 * n; }
        when(int n = waitNext(in[11])) { sum += 11 * n; }
        when(int n = waitNext(in[12])) { sum += 12 * n; }
        when(int n = waitNext(in[13])) { sum += 13 * n; }
        when(int n = waitNext(in[14])) { sum += 14 * n; }
        when(int n = waitNext(in[15])) { sum += 15 * n; }
        when(int n = waitNext(in[16])) { sum += 16 * n; }
        when(int n = waitNext(in[17])) { sum += 17 * n; }
        when(int n = waitNext(in[18])) { sum += 18 * n; }
        when(int n = waitNext(in[19])) { sum += 19 * n; }
        when(int n = waitNext(in[20])) { sum += 20 * n; }
        when(int n = waitNext(in[21])) { sum += 21 * n; }
        when(int n = waitNext(in[22])) { sum += 22 * n; }
        when(int n = waitNext(in[23])) { sum += 23 * n; }
        when(int n = waitNext(in[24])) { sum += 24 * n; }
        when(int n = waitNext(in[25])) { sum += 25 * n; }
        when(int n = waitNext(in[26])) { sum += 26 * n; }
        when(wait(end)) { return sum; }
    }
}

int main() {
    SimLoop sim;
    say("%d", sim.run(waits(1)));
    say("at %g", now());
    std::vector<PromiseStream<int>> out(27);
    std::vector<FutureStream<int>> in;
    for (auto& stream : out)
        in.push_back(stream.getFuture());
    Promise<Void> end;
    Future<int> sum = chooses(in, end.getFuture());
    for (int i = 0; i < 100; i++)
        out[i * 7 % 27].send(i);
    end.send(Void());
    int expected = 0;
    for (int i = 0; i < 100; i++)
        expected += i * 7 % 27 * i;
    say("%s", sum.get() == expected ? "as expected" : "something else");
}
