// More waits in one actor than fit a byte, and a choose with as many branches as any real program has.
#include "trace.h"
#include "flow/actorcompiler.h"

ACTOR Future<int> waits(Future<int> one) {
    state int sum = 0; state Future<int> late = delayed(one, 1);
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x2 = wait(one); sum += x2;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x7 = wait(one); sum += x7;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x12 = wait(one); sum += x12;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x17 = wait(one); sum += x17;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x22 = wait(one); sum += x22;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x27 = wait(one); sum += x27;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x32 = wait(one); sum += x32;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x37 = wait(one); sum += x37;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x42 = wait(one); sum += x42;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x47 = wait(one); sum += x47;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x52 = wait(one); sum += x52;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x57 = wait(one); sum += x57;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x62 = wait(one); sum += x62;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x67 = wait(one); sum += x67;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x72 = wait(one); sum += x72;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x77 = wait(one); sum += x77;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x82 = wait(one); sum += x82;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x87 = wait(one); sum += x87;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x92 = wait(one); sum += x92;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x97 = wait(one); sum += x97;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x102 = wait(one); sum += x102;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x107 = wait(one); sum += x107;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x112 = wait(one); sum += x112;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x117 = wait(one); sum += x117;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x122 = wait(one); sum += x122;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x127 = wait(one); sum += x127;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x132 = wait(one); sum += x132;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x137 = wait(one); sum += x137;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x142 = wait(one); sum += x142;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0));
    sum = wait(map(one, [sum = sum](int n) { return sum + n; })); int x147 = wait(one); sum += x147;
    if (sum % 2 == 0) { wait(success(late)); sum += 1; }
    try { sum++; wait(Future<Void>(end_of_stream())); } catch (Error&) { sum += 1; } wait(delay(0)); return sum;
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
    SimLoop loop;
    say("%d at %g", loop.run(waits(1)), now());
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
