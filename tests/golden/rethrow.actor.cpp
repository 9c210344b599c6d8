ACTOR Future<Void> retry(Transaction tr) {
    loop {
        try {
            wait(tr.commit());
            return Void();
        } catch (Error& e) {
            wait(tr.onError(e));
            throw;
        }
    }
}

ACTOR Future<Void> catches(Future<Void> f) {
    try {
        wait(f);
    } catch (auto& e) {
        throw;
    }
    throw;
}

ACTOR Future<Void> order(Future<Void> f) {
    try {
        wait(f);
    } catch (const Error& e) {
        throw;
    } catch (std::exception& e) {
        throw;
    } catch (flow::Error) {
        throw;
    } catch (...) {
        throw;
    } catch (int) {
        throw;
    }
    return Void();
}
