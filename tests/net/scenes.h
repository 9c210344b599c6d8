#pragma once
// Every operation of net, with what it needs around it and what must hold afterwards: for the tests that end each of
// them at every step.
//
//     for (SceneKind const& kind : sceneKinds()) {
//         std::unique_ptr<Scene> scene = kind.make();       // in a process of a simulated network
//         co_await scene->prepare();
//         Future<Void> operation = scene->operation(), others = scene->others();
//         ...                                               // the operation may be dropped at any time
//         CHECK((co_await scene->rest()) == "");
//     }

#include "flow/core/future.h"

#include <memory>
#include <string>
#include <vector>

namespace flow::test {

class Scene {
public:
    virtual ~Scene() = default;
    virtual Future<Void> prepare() = 0;
    /// The tested operation. Ends by itself if it is not cancelled.
    virtual Future<Void> operation() = 0;
    /// Runs meanwhile, whatever happens to the operation.
    virtual Future<Void> others();
    /// Continues where the operation ended or was cancelled. Returns what is wrong then, or nothing.
    virtual Future<std::string> rest() = 0;
};

struct SceneKind {
    const char* name;
    std::unique_ptr<Scene> (*make)();
};

std::vector<SceneKind> const& sceneKinds();

/// What the name of the scenes resolves to must be the process's own address.
inline constexpr char kSceneName[] = "scene.test";

} // namespace flow::test
