//! tokio-postgres, on one thread: prints what bench/postgres/millrace.cpp prints. Tasks share connections, and so
//! pipeline.

use futures_util::future::{join_all, try_join_all};
use futures_util::{pin_mut, TryStreamExt};
use std::time::{Duration, Instant};
use tokio_postgres::{Client, Error, NoTls, Row, Statement};

const ONE: &str = "SELECT id, name, price FROM item WHERE id = $1";
const ALL: &str = "SELECT id, name, price FROM item";
const INSERT: &str = "INSERT INTO sale (item, amount) VALUES ($1, $2)";
const ITEMS: i32 = 1000;
const QUERIES: usize = 20;
const WARM_UP: f64 = 0.1;

struct Item {
    id: i32,
    name: String,
    price: i32,
}

struct Connection {
    client: Client,
    each: Statement,
}

fn next_id(id: i32) -> i32 {
    id % ITEMS + 1
}

fn item_of(row: &Row) -> Item {
    Item { id: row.get(0), name: row.get(1), price: row.get(2) }
}

fn check(item: &Item, id: i32) {
    assert!(
        item.id == id && !item.name.is_empty() && item.price == 10 * id,
        "the server has answered something else"
    );
}

async fn ask_once(db: &Connection, work: &str, mut id: i32) -> Result<(), Error> {
    let Connection { client, each } = db;
    match work {
        "row" => check(&item_of(&client.query_one(each, &[&id]).await?), id),
        "queries-20" => {
            for _ in 0..QUERIES {
                check(&item_of(&client.query_one(each, &[&id]).await?), id);
                id = next_id(id);
            }
        }
        "pipelined-20" => {
            let mut ids = vec![id];
            while ids.len() < QUERIES {
                ids.push(next_id(ids[ids.len() - 1]));
            }
            let asking = ids.iter().map(|id| async move { client.query_one(each, &[id]).await });
            for (row, id) in try_join_all(asking).await?.iter().zip(ids.iter()) {
                check(&item_of(row), *id);
            }
        }
        "rows-1000" => {
            let items: Vec<Item> = client.query(each, &[]).await?.iter().map(item_of).collect();
            assert!(items.len() == ITEMS as usize, "not all rows");
            for (item, id) in items.iter().zip(1..) {
                check(item, id);
            }
        }
        "stream-1000" => {
            let rows = client.query_raw(each, Vec::<i32>::new()).await?;
            pin_mut!(rows);
            id = 0;
            while let Some(row) = rows.try_next().await? {
                id += 1;
                check(&item_of(&row), id);
            }
            assert!(id == ITEMS, "not all rows");
        }
        "insert" => {
            client.execute(each, &[&id, &7]).await?;
        }
        _ => panic!("there is no such work"),
    }
    Ok(())
}

async fn ask(db: &Connection, work: &str, mut id: i32, end: Instant) -> Vec<Duration> {
    let mut times = Vec::new();
    let mut asked = Instant::now();
    while asked < end {
        ask_once(db, work, id).await.expect("a query has failed");
        let now = Instant::now();
        times.push(now - asked);
        asked = now;
        id = next_id(id);
    }
    times
}

/// The seconds of this process, of the thread that does all.
fn processor_time() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("no /proc/self/schedstat");
    let nanoseconds: f64 = text.split(' ').next().and_then(|each| each.parse().ok()).expect("not a number");
    nanoseconds / 1e9
}

async fn connect(url: &str, work: &str) -> Result<Connection, Error> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    let text = match work {
        "rows-1000" | "stream-1000" => ALL,
        "insert" => INSERT,
        _ => ONE,
    };
    let each = client.prepare(text).await?;
    Ok(Connection { client, each })
}

async fn measure(work: &str, tasks: usize, connections: usize, seconds: f64, url: &str) -> Result<(), Error> {
    let mut made = Vec::new();
    for _ in 0..connections {
        made.push(connect(url, work).await?);
    }
    for (duration, is_shown) in [(WARM_UP, false), (seconds, true)] {
        let (begin, used) = (Instant::now(), processor_time());
        let end = begin + Duration::from_secs_f64(duration);
        let asking = (0..tasks).map(|i| ask(&made[i % connections], work, next_id(i as i32 * 37), end));
        let mut times: Vec<f64> =
            join_all(asking).await.iter().flatten().map(|time| time.as_secs_f64() * 1e6).collect();
        let (took, used) = (begin.elapsed().as_secs_f64(), processor_time() - used);
        times.sort_by(f64::total_cmp);
        let at = |percent: usize| times[times.len() * percent / 100];
        if is_shown {
            println!("{} {} {} {} {}", times.len(), took, used, at(50), at(99));
        }
    }
    Ok(())
}

fn main() -> Result<(), Error> {
    let given: Vec<String> = std::env::args().collect();
    assert!(given.len() == 6, "usage: postgres_tokio WORK TASKS CONNECTIONS SECONDS URL");
    let number = |i: usize| given[i].parse().expect("not a number");
    let seconds: f64 = given[4].parse().expect("not a number");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("no runtime");
    runtime.block_on(measure(&given[1], number(2), number(3), seconds, &given[5]))
}
