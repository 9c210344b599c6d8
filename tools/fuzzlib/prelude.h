#pragma once
// What generated programs stand on: numbers that decide everything, inputs that become ready when the driver says so,
// and a trace of all that happens. `world.py` is the same for the model.

#include "flow/core/future.h"
#include "flow/core/stream.h"

#include <memory>
#include <string>
#include <vector>

namespace fuzz {

using namespace flow;

/// Reports when the last copy of it is destroyed. Default-constructed or moved from, it is silent. Nothing is inline:
/// there are many copies.
class Token {
public:
    Token();
    explicit Token(std::string name);
    Token(Token const& other);
    Token(Token&& other) noexcept;
    Token& operator=(Token const& other);
    Token& operator=(Token&& other) noexcept;
    ~Token();

private:
    std::shared_ptr<std::string> name_;
};

struct Pair {
    int first;
    int second;
};

/// A number below n from the run's generator; 0 when its fuel is used up, at which every loop ends.
int pick(int n);
void at(int id);
void see(int id, int value);
void caught(int id, Error const& error);
/// Perhaps throws an Error, or something else.
void mayThrow(int id);

/// Ready, failed, pending or never, or throws: as the run's numbers say.
Future<int> number(int id);
Future<Void> signal(int id);
Future<Token> newToken(int id);
Future<Pair> pair(int id);
FutureStream<int> stream(int id);

std::vector<int> items(int id);

/// A future that any actor can set.
Future<int> slot(int k);
void fill(int k, int value);
void failSlot(int k);
void breakSlot(int k);

/// Futures that outlive their creators, until the program drops them.
void keep(int k, Future<int> const& future);
Future<int> kept(int k);
void drop(int k);

/// Makes a program known to the driver: its number, what its generator starts from, and in which form it is.
struct Registration {
    Registration(int program, int start, const char* form, Future<int> (*root)(Token const&, int));
};

} // namespace fuzz

using namespace fuzz;
