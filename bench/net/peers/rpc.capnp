@0x82daf82aedc10ed5;

struct Item {
    a @0 :UInt64;
    b @1 :UInt64;
    c @2 :UInt64;
    d @3 :UInt64;
    e @4 :UInt64;
    f @5 :UInt64;
    g @6 :UInt64;
    h @7 :UInt64;
    content @8 :Data;
}

interface Echo {
    ask @0 Item -> Item;
    stop @1 ();
}
