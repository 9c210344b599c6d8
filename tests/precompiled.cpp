// Other programs reuse the headers that are precompiled for this one, which does nothing.
int main() {
    return 0;
}
