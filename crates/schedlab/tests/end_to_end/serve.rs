//! The dashboard as a browser meets it.

use crate::bench::{Bench, KNOWN_EFFECT, PATIENCE, UnprivilegedUser, errors, wait_until};
use rustix::process::{Gid, Pid, Signal, geteuid, kill_process, test_kill_process};
use rustix::thread::set_thread_groups;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Some seconds of trials, so that there is something to watch.
const MEASURED: &str = r#"
title   = "Does being nice cost anything?"
venue   = "host"
blocks  = 6
seed    = 7
control = false

[subjects.baseline]
[subjects.nice]
nice = "5"

[[workloads]]
use = "command"
run = "sleep 0.3"
invocations = 1
"#;

/// A dashboard, and what a client needs to know.
struct Server {
    child: Child,
    host: String,
    token: String,
}

impl Server {
    fn start(bench: &Bench) -> Self {
        Self::of(bench.command(&["serve"]))
    }

    fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let (host, token) = parts(address.trim());
        Self { child, host, token }
    }

    fn client(&self) -> Client<'_> {
        Client { host: &self.host, token: &self.token }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Host with port, and token.
fn parts(address: &str) -> (String, String) {
    let rest = address.strip_prefix("http://").unwrap_or_else(|| panic!("{address:?}"));
    let (host, token) = rest.split_once("/login?t=").unwrap();
    (host.to_owned(), token.to_owned())
}

#[derive(Clone, Copy)]
struct Client<'a> {
    host: &'a str,
    token: &'a str,
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Client<'_> {
    fn open(&self, method: &str, path: &str, headers: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    fn ask(&self, method: &str, path: &str, headers: &str) -> Answer {
        let mut text = String::new();
        self.open(method, path, headers).read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split_whitespace().nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    /// What makes a request one of ours.
    fn headers(&self) -> String {
        format!("Host: {}\r\nAuthorization: Bearer {}\r\n", self.host, self.token)
    }

    fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &self.headers())
    }

    fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    fn events(&self) -> Events {
        let stream = self.open("GET", "/api/v1/events", &self.headers());
        let mut lines = BufReader::new(stream);
        let mut head = String::new();
        while head.lines().last() != Some("") {
            assert_ne!(lines.read_line(&mut head).unwrap(), 0, "{head}");
        }
        Events { status: head.split_whitespace().nth(1).unwrap().parse().unwrap(), lines }
    }
}

/// Events as they come.
struct Events {
    status: u16,
    lines: BufReader<TcpStream>,
}

impl Events {
    /// The next event of a kind; `None` where the server ended.
    fn next(&mut self, kind: &str) -> Option<Value> {
        let mut is_kind = false;
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).ok()? == 0 {
                return None;
            }
            match line.trim_end().split_once(':') {
                Some(("event", name)) => is_kind = name.trim() == kind,
                Some(("data", data)) if is_kind => return serde_json::from_str(data.trim()).ok(),
                _ => {}
            }
        }
    }
}

fn simulated() -> Bench {
    let bench = Bench::new();
    let file = bench.experiment("effect", KNOWN_EFFECT);
    bench.expect(0, &["run", &file]);
    bench
}

#[test]
fn only_who_has_the_token_is_answered_and_by_a_name_of_this_machine() {
    let bench = simulated();
    let server = Server::start(&bench);
    let client = server.client();
    let host = format!("Host: {}\r\n", client.host);
    let known = client.headers();
    let status = |method: &str, path: &str, headers: &str| client.ask(method, path, headers).status;
    for path in ["/", "/metrics", "/api/v1/events", "/api/v1/campaigns", "/nothing"] {
        assert_eq!(status("GET", path, &host), 401, "{path}");
    }
    assert_eq!(status("GET", "/login?t=wrong", &host), 401);
    assert_eq!(status("GET", "/login", &host), 401);
    let login = client.ask("GET", &format!("/login?t={}", client.token), &host);
    assert_eq!(login.status, 303);
    assert!(login.head.contains("httponly; samesite=strict; path=/"), "{}", login.head);
    let (_, cookie) = login.head.split_once("set-cookie: ").unwrap();
    let cookie = cookie.split(';').next().unwrap();
    assert_eq!(status("GET", "/", &format!("{host}Cookie: {cookie}\r\n")), 200);
    assert_eq!(status("GET", "/", &known), 200);
    assert_eq!(status("HEAD", "/", &known), 200);
    assert_eq!(status("POST", "/", &known), 405);
    assert_eq!(status("GET", "/", &format!("{known}Origin: https://evil.example\r\n")), 403);
    assert_eq!(status("GET", "/", &format!("{known}Sec-Fetch-Site: cross-site\r\n")), 403);
    let foreign = known.replace(client.host, "evil.example");
    assert_eq!(status("GET", "/", &foreign), 421);
    // What is said twice may mean something else to whatever stands in between.
    let origin = format!("Origin: http://{}\r\n", client.host);
    assert_eq!(status("GET", "/", &format!("{known}{origin}")), 200);
    assert_eq!(status("GET", "/", &format!("{known}{origin}{origin}")), 400);
    assert_eq!(status("GET", "/", &format!("{known}Host: evil.example\r\n")), 400);
    assert_eq!(status("GET", "/", &format!("Host: evil.example\r\n{known}")), 400);
    assert_eq!(status("GET", "http://evil.example/", &known), 400);
    for header in ["x-content-type-options: nosniff", "frame-ancestors 'none'", "no-store"] {
        assert!(client.get("/").head.contains(header), "{header}");
    }
    // It listens on the loopback alone: any other address of this machine is still free.
    let (_, port) = client.host.split_once(':').unwrap();
    let elsewhere = TcpListener::bind(format!("127.0.0.2:{port}"));
    assert!(elsewhere.is_ok(), "it listens on more than 127.0.0.1");
}

#[test]
fn a_campaign_is_listed_shown_and_counted_and_no_path_leads_elsewhere() {
    let bench = simulated();
    let server = Server::start(&bench);
    let client = server.client();
    let name = bench.campaign().file_name().unwrap().to_string_lossy().into_owned();
    let listing = client.json("/api/v1/campaigns");
    let row = &listing["campaigns"][0];
    assert_eq!(row["name"], name.as_str());
    assert_eq!(row["state"], "finished");
    assert_eq!((row["trials_done"].as_u64(), row["trials_total"].as_u64()), (Some(24), Some(24)));
    assert_eq!(row["verdicts"]["better"], 1);
    assert_eq!(row["origin"], "simulated");
    let page = client.json(&format!("/api/v1/campaigns/{name}"));
    assert_eq!(page["format"], "schedlab.page/1");
    assert_eq!(page["campaign"], name.as_str());
    let shown = bench.expect(0, &["show", "last", "--format", "json"]);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(page["answer"], shown["answer"]);
    for path in ["/api/v1/campaigns/..%2f..%2fetc", "/api/v1/campaigns/%2e%2e", "/etc/passwd"] {
        assert_eq!(client.get(path).status, 404, "{path}");
    }
    let history = client.json("/api/v1/history");
    assert_eq!(history["series"][0]["points"][0]["campaign"], name.as_str());

    let mut events = client.events();
    let told = std::iter::from_fn(|| events.next("snapshot"))
        .find(|told| !told["campaign"]["verdicts"].as_array().unwrap().is_empty());
    let campaign = &told.unwrap()["campaign"];
    assert_eq!(campaign["state"], "finished");
    assert!(campaign["left_ms"].is_null() && campaign["current"].is_null(), "{campaign}");
    assert_eq!(campaign["verdicts"][0]["verdict"], "better");
    assert_eq!(campaign["origin"], "simulated");

    let metrics = client.get("/metrics");
    assert!(metrics.head.contains("application/openmetrics-text"), "{}", metrics.head);
    let verdict = "origin=\"simulated\",verdict=\"better\"} 1";
    for line in ["schedlab_trials{state=\"done\"} 24", verdict, "# EOF"] {
        assert!(metrics.body.contains(line), "{line} in {}", metrics.body);
    }
    let top = bench.expect(0, &["top", "--once"]);
    assert!(top.contains(&format!("\nsimulated: {name}")), "{top}");
}

/// A campaign of a table in blocks.
fn imported() -> Bench {
    let bench = Bench::new();
    let mut text = "who,block,ns\n".to_owned();
    for block in 0..6 {
        text += &format!("a,{block},{}\nb,{block},{}\n", 1000 + block * 3, 1200 + block * 4 % 7);
    }
    let path = bench.path().join("table.csv");
    std::fs::write(&path, text).unwrap();
    let file = path.display().to_string();
    let mapping = ["--subject", "who", "--block", "block", "--value", "ns:lower:ns"];
    let arguments: Vec<&str> = ["import", "csv", &file].into_iter().chain(mapping).collect();
    bench.expect(0, &arguments);
    bench
}

#[test]
fn numbers_of_others_are_told_as_such_by_whatever_tells_a_verdict_of_them() {
    let bench = imported();
    let server = Server::start(&bench);
    let client = server.client();
    assert_eq!(client.json("/api/v1/campaigns")["campaigns"][0]["origin"], "imported");
    let mut events = client.events();
    let told = std::iter::from_fn(|| events.next("snapshot"))
        .find(|told| !told["campaign"]["verdicts"].as_array().unwrap().is_empty());
    assert_eq!(told.unwrap()["campaign"]["origin"], "imported");
    let metrics = client.get("/metrics").body;
    let mut verdicts = metrics.lines().filter(|line| line.starts_with("schedlab_verdict{"));
    assert!(verdicts.all(|line| line.contains("origin=\"imported\"")), "{metrics}");
    assert!(metrics.contains("schedlab_verdict{"), "{metrics}");
    let top = bench.expect(0, &["top", "--once"]);
    assert!(top.contains("\nimported: "), "{top}");
    let compared = bench.expect(0, &["compare", "last", "last"]);
    assert_eq!(compared.matches("Imported from table.csv (csv).").count(), 2, "{compared}");
    for format in ["text", "github", "junit"] {
        let output = bench.run(&["gate", "last", "--limit", "ns=3%", "--format", format]);
        let told = String::from_utf8(output.stdout).unwrap();
        assert!(told.contains("Imported from table.csv (csv)."), "{format}: {told}");
    }
}

/// Texts as a browser gets them, keys included.
fn assert_inert(what: &str, value: &Value) {
    let is_inert = |text: &str| !text.contains(|c: char| c != '\n' && model::is_obeyed(c));
    match value {
        Value::String(text) => assert!(is_inert(text), "{what}: {text:?}"),
        Value::Array(all) => all.iter().for_each(|one| assert_inert(what, one)),
        Value::Object(all) => {
            for (key, one) in all {
                assert!(is_inert(key), "{what}: {key:?}");
                assert_inert(&format!("{what}.{key}"), one);
            }
        }
        _ => {}
    }
}

#[test]
fn nothing_that_a_campaign_says_is_obeyed_by_who_watches() {
    let bench = Bench::new();
    // What no experiment may hold stands in the name of a directory, which anybody can have sent.
    let turned = KNOWN_EFFECT.replace("A known effect", "A known \\u202eeffect\\u200b");
    bench.expect(0, &["run", &bench.experiment("effect", &turned)]);
    let name = "effect-\u{1b}[2J\u{9b}31m\u{202e}";
    std::fs::rename(bench.campaign(), bench.results().join(name)).unwrap();
    let server = Server::start(&bench);
    let client = server.client();
    for path in ["/api/v1/campaigns", "/api/v1/history"] {
        let told = client.json(path);
        assert_inert(path, &told);
        assert!(told.to_string().contains("effect-\u{fffd}[2J"), "{path}: {told}");
    }
    let snapshot = client.events().next("snapshot").unwrap();
    assert_inert("a snapshot", &snapshot);
    let metrics = client.get("/metrics").body;
    let obeyed = metrics.chars().find(|letter| *letter != '\n' && model::is_obeyed(*letter));
    assert_eq!(obeyed, None, "{metrics:?}");
}

/// A campaign that was cut short and has no end any more: nothing but the machine knows of the rest.
#[test]
fn what_the_machine_knows_of_removed_records_is_told_by_dashboard_and_top_as_by_judge() {
    let bench = simulated();
    let directory = bench.campaign();
    let name = directory.file_name().unwrap().to_string_lossy().into_owned();
    let place = format!("/api/v1/campaigns/{name}");
    let server = Server::start(&bench);
    let client = server.client();
    assert_eq!(client.json(&place)["findings"][0]["verdict"], "better");
    assert_eq!(client.json("/api/v1/campaigns")["campaigns"][0]["verdicts"]["better"], 1);

    let kept: Vec<String> = bench.record_lines().into_iter().take(18).collect();
    std::fs::write(directory.join("records.jsonl"), kept.join("\n") + "\n").unwrap();
    let told = "records were removed: this machine knew 24, and 18 are there";
    // What was judged, read and stored before no longer counts.
    wait_until(told, || client.get(&place).body.contains(told));
    let verdicts = &client.json("/api/v1/campaigns")["campaigns"][0]["verdicts"];
    assert!(verdicts["better"].is_null() && verdicts["inconclusive"] == 1, "{verdicts}");
    assert_eq!(client.json("/api/v1/history")["series"].as_array().unwrap().len(), 0);

    let state = directory.join("state.json");
    let text = std::fs::read_to_string(&state).unwrap();
    let mut open: Value = serde_json::from_str(&text).unwrap();
    open["state"] = "unfinished".into();
    open.as_object_mut().unwrap().remove("head").unwrap();
    std::fs::write(&state, open.to_string()).unwrap();
    let server = Server::start(&bench);
    let client = server.client();
    let page = client.json(&place);
    assert!(page.to_string().contains(told), "{page}");
    assert_eq!(page["findings"][0]["verdict"], "inconclusive");
    let mut events = client.events();
    let is_told = |event: &Value| event["campaign"]["log"].to_string().contains(told);
    assert!(std::iter::from_fn(|| events.next("snapshot")).any(|event| is_told(&event)));
    let top = bench.expect(0, &["top", "--once"]);
    assert!(top.contains("EVIDENCE_CHANGED: records were removed"), "{top}");
    let shown = bench.expect(0, &["show", "last"]);
    assert!(shown.split_whitespace().collect::<Vec<_>>().join(" ").contains(told), "{shown}");
}

#[test]
fn a_user_without_roots_rights_runs_and_watches_in_a_runtime_directory_of_their_own() {
    let user = UnprivilegedUser::new();
    let file = user.experiment(KNOWN_EFFECT);
    user.expect(&["--runtime-dir", "own", "run", &file]);
    let server = Server::of(user.command(&["--runtime-dir", "own", "serve"]));
    let listing = server.client().json("/api/v1/campaigns");
    let row = &listing["campaigns"][0];
    assert_eq!(row["state"], "finished");
    assert_eq!(row["verdicts"]["better"], 1);
    let counted = std::fs::read_to_string(user.path().join("own/attempts.jsonl")).unwrap();
    assert_eq!(counted.lines().count(), 1);
}

/// Fields of proc_pid_status(5) that tell what a thread may do, and their values.
fn rights(status: &str) -> Vec<(&str, String)> {
    const FIELDS: [&str; 6] = ["Uid", "Gid", "Groups", "CapPrm", "CapEff", "NoNewPrivs"];
    let fields = status.lines().filter_map(|line| line.split_once(':'));
    let fields = fields.filter(|(name, _)| FIELDS.contains(name));
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    fields.map(|(name, value)| (name, words(value))).collect()
}

#[test]
fn the_dashboard_of_root_has_no_rights_groups_or_capabilities_of_roots_in_any_thread() {
    if !geteuid().is_root() {
        testing::skip("only root has rights to give up");
        return;
    }
    let bench = simulated();
    // The owner of the directory of campaigns, and whom it becomes.
    for (owner, user) in [(0, 65_534), (20_000, 20_000)] {
        chown(bench.results(), Some(owner), Some(owner)).unwrap();
        let mut command = bench.command(&["serve"]);
        // SAFETY: setgroups(2) is async-signal-safe.
        unsafe {
            command.pre_exec(|| Ok(set_thread_groups(&[Gid::from_raw(0), Gid::from_raw(20_001)])?));
        }
        let server = Server::of(command);
        let listing = server.client().json("/api/v1/campaigns");
        assert_eq!(listing["campaigns"][0]["state"], "finished", "{listing}");
        let ids = [user; 4].map(|id| id.to_string()).join(" ");
        let none = "0".repeat(16);
        let due = [
            ("Uid", ids.as_str()),
            ("Gid", ids.as_str()),
            ("Groups", ""),
            ("CapPrm", none.as_str()),
            ("CapEff", none.as_str()),
            ("NoNewPrivs", "1"),
        ];
        let threads = std::fs::read_dir(format!("/proc/{}/task", server.child.id())).unwrap();
        let mut looked_at = 0;
        for thread in threads {
            // One that served a client may have ended.
            let status = thread.unwrap().path().join("status");
            let Ok(status) = std::fs::read_to_string(status) else { continue };
            let rights = rights(&status);
            let rights: Vec<_> = rights.iter().map(|(name, it)| (*name, it.as_str())).collect();
            assert_eq!(rights, due, "{status}");
            looked_at += 1;
        }
        assert!(looked_at > 0);
    }
}

#[test]
fn too_many_clients_are_turned_away_and_a_place_that_is_left_is_free() {
    let bench = simulated();
    let server = Server::start(&bench);
    let mut watching: Vec<Events> = (0..16).map(|_| server.client().events()).collect();
    assert!(watching.iter().all(|events| events.status == 200));
    assert_eq!(server.client().events().status, 503);
    drop(watching.pop());
    wait_until("the place is free", || server.client().events().status == 200);
}

/// Connections that a dashboard serves at once (`server::connection`).
const PLACES: usize = 96;
/// How often all clients come anew where a server took the last one when the first had no more time.
const MOST_ROUNDS: usize = 6;
/// Answers that one client asks for and does not read: many times what the kernel keeps for it.
const UNREAD: usize = 200;

/// Connections that a server of this machine has accepted and not closed: those of its port in
/// state `TCP_ESTABLISHED` (Linux 6.12, Documentation/networking/proc_net_tcp.rst).
fn established(port: &str) -> usize {
    let local = format!(":{:04X}", port.parse::<u16>().unwrap());
    let text = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let is_it = |line: &&str| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        matches!(columns.as_slice(), [_, address, _, "01", ..] if address.ends_with(&local))
    };
    text.lines().filter(is_it).count()
}

#[test]
fn clients_that_neither_send_nor_read_take_no_place_for_long() {
    let bench = simulated();
    let server = Server::start(&bench);
    let client = server.client();
    let (_, port) = client.host.split_once(':').unwrap();
    let connect = || {
        let stream = TcpStream::connect(client.host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    };
    let name = bench.campaign().file_name().unwrap().to_string_lossy().into_owned();
    let request = format!("GET /api/v1/campaigns/{name} HTTP/1.1\r\n{}\r\n", client.headers());
    let mut deaf = connect();
    deaf.write_all(request.repeat(UNREAD).as_bytes()).unwrap();
    let mut halting = connect();
    halting.write_all(b"GET / HTTP/1.1\r\nHost: ").unwrap();
    let mut silent: Vec<TcpStream> = (2..PLACES).map(|_| connect()).collect();
    let mut turned_away = String::new();
    for _ in 0..MOST_ROUNDS {
        connect().read_to_string(&mut turned_away).unwrap();
        if !turned_away.is_empty() {
            break;
        }
        // It had a place, and was dropped without a word.
        silent = (0..PLACES).map(|_| connect()).collect();
    }
    assert!(turned_away.starts_with("HTTP/1.1 503 "), "{turned_away:?}");
    assert!(turned_away.ends_with("are connected already.\n"), "{turned_away:?}");
    // 15 s, and what a process of the lowest priority needs on a busy machine.
    wait_until("every place is free", || established(port) == 0);
    assert_eq!(client.get("/").status, 200);
    // What the kernel had taken for it comes still, and then the end.
    let mut taken = Vec::new();
    let _ = deaf.read_to_end(&mut taken);
    let answers = String::from_utf8_lossy(&taken).matches("HTTP/1.1 200 OK").count();
    assert!((1..UNREAD).contains(&answers), "{answers} of {UNREAD} answers were kept for it");
    drop((halting, silent));
}

#[test]
fn what_cannot_be_served_is_said_and_a_signal_ends_it() {
    let bench = simulated();
    let mut server = Server::start(&bench);
    let (_, port) = server.host.split_once(':').unwrap();
    let taken = bench.run(&["serve", "--port", port]);
    assert_eq!(taken.status.code(), Some(1));
    assert!(errors(&taken).contains("--port 0 takes a free one"), "{}", errors(&taken));
    let nothing = Bench::new().run(&["serve"]);
    assert_eq!(nothing.status.code(), Some(2), "{}", errors(&nothing));
    assert!(errors(&nothing).contains("--results DIR"), "{}", errors(&nothing));
    let open = bench.run(&["serve", "--listen", "0.0.0.0"]);
    assert_eq!(open.status.code(), Some(2), "{}", errors(&open));
    kill_process(Pid::from_child(&server.child), Signal::TERM).unwrap();
    assert_eq!(server.child.wait().unwrap().code(), Some(143));
}

/// A run with a dashboard: its process, and where that is.
fn live_run(
    bench: &Bench,
    experiment: &str,
) -> (Child, BufReader<std::process::ChildStderr>, (String, String)) {
    let file = bench.experiment("nice", experiment);
    let mut run = bench
        .command(&["run", &file, "--live"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(run.stderr.take().unwrap());
    let mut line = String::new();
    told.read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("live: ").unwrap_or_else(|| panic!("{line:?}"));
    let parts = parts(address);
    (run, told, parts)
}

#[test]
fn a_run_is_watched_from_its_start_to_its_verdict() {
    let bench = Bench::new();
    // Its first trial ends when it was seen, however late this test is told of it.
    let seen = bench.path().join("seen");
    let waiting = format!(
        "#!/bin/sh\nsleep 0.3\nn=0\nwhile [ ! -e {} ] && [ $n -lt 1000 ]; do sleep 0.05; \
         n=$((n + 1)); done\n",
        seen.display()
    );
    let program = bench.program("waiting", &waiting);
    let experiment = MEASURED.replace("sleep 0.3", &program);
    let (mut run, mut told, (host, token)) = live_run(&bench, &experiment);
    let client = Client { host: &host, token: &token };
    let mut events = client.events();
    // Another one comes and goes without a word.
    drop(client.events());
    let mut last = Value::Null;
    let mut is_seen_running = false;
    while let Some(snapshot) = events.next("snapshot") {
        let campaign = &snapshot["campaign"];
        if campaign["state"] == "running" && campaign["left_ms"].is_u64() {
            is_seen_running = true;
            std::fs::write(&seen, "").unwrap();
        }
        for one in campaign["verdicts"].as_array().into_iter().flatten() {
            let is_over = campaign["state"] == "finished";
            assert!(is_over || one["verdict"] == "inconclusive", "{campaign}");
        }
        last = snapshot;
    }
    assert!(is_seen_running, "{last}");
    assert_eq!(last["campaign"]["state"], "finished");
    assert_eq!(last["campaign"]["trials"]["done"], 12);
    assert_eq!(last["campaign"]["verdicts"][0]["pairs"], 6);
    let mut rest = String::new();
    told.read_to_string(&mut rest).unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(0), "{rest}");
    let watched = bench.record_lines().iter().filter(|line| line.contains("WATCHED")).count();
    assert!(watched >= 10, "{watched} of 12 records say that somebody watched");
    assert!(TcpStream::connect(&host).is_err(), "the dashboard outlives its run");
}

#[test]
fn a_killed_run_takes_its_dashboard_along() {
    let bench = Bench::new();
    // It is killed before its end however late this test is told that it runs.
    let long = MEASURED.replace("blocks  = 6", "blocks  = 500");
    let (mut run, _told, (host, token)) = live_run(&bench, &long);
    let mut events = Client { host: &host, token: &token }.events();
    let is_running = |told: &Value| told["campaign"]["current"].is_object();
    std::iter::from_fn(|| events.next("snapshot")).find(is_running).unwrap();
    run.kill().unwrap();
    run.wait().unwrap();
    // Clients are told that no process runs it any more, and then it ends.
    let told: Vec<Value> = std::iter::from_fn(|| events.next("snapshot")).collect();
    assert!(told.iter().any(|told| told["campaign"]["state"] == "interrupted"), "{told:?}");
    assert!(TcpStream::connect(&host).is_err(), "the dashboard outlives its run");
    bench.wait_for_guardian();
    assert!(test_kill_process(Pid::from_child(&run)).is_err());
}
