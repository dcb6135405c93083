//! What columns of tables are called, by what they hold.

/// Names of columns that say when a row was measured.
pub(crate) const TIMES: [&str; 14] = [
    "timestamp",
    "time_stamp",
    "datetime",
    "date_time",
    "started",
    "started_at",
    "start_time",
    "start",
    "begin_time",
    "measured_at",
    "run_at",
    "epoch",
    "unix_time",
    "ts",
];
/// Names of columns that count the rows of a whole table.
pub(crate) const SEQUENCES: [&str; 4] = ["sequence", "seq", "order", "run_order"];
/// What columns are called that tell parts of one execution apart, but for what follows it.
pub(crate) const PARTS: [&str; 15] = [
    "thread",
    "tid",
    "cpu",
    "core",
    "socket",
    "numa_node",
    "cgroup",
    "control_group",
    "part",
    "shard",
    "worker",
    "rank",
    "interval",
    "window",
    "chunk",
];
/// The same of columns that may stand beside executions as well: each has another process.
pub(crate) const NAMED_PARTS: [&str; 8] =
    ["process", "pid", "node", "numa", "queue", "vcpu", "hart", "die"];
/// What columns are called that count what one execution repeats: named, they are parts of it as well.
/// A column that nobody named may hold how many there were.
pub(crate) const REPEATS: [&str; 11] = [
    "iteration",
    "iterations",
    "iter",
    "iters",
    "invocation",
    "invocations",
    "sample",
    "samples",
    "warmup",
    "warm_up",
    "warmups",
];
/// What columns are called that count or name what one execution sends or does over and over: named,
/// they are parts of it as well, be they numbered on from one subject to the next, unless the user says
/// that each was an execution (`independent`).
pub(crate) const EXCHANGED: [&str; 11] = [
    "seq",
    "sequence",
    "seq_no",
    "seqno",
    "icmp_seq",
    "packet",
    "request",
    "message",
    "epoch",
    "connection",
    "conn",
];
/// What columns are called that name executions or count what one does: where each row of a subject
/// has a number of its own in one, and it was named, it is refused as those of [`EXCHANGED`] are.
pub(crate) const NUMBERED: [&str; 12] = [
    "i", "n", "idx", "index", "indexes", "indices", "session", "sessions", "batch", "batches",
    "client", "clients",
];

/// How columns end that tell which of something a subject is or has.
pub(crate) const VERSIONS: [&str; 7] =
    ["_version", "_release", "_revision", "_commit", "_build", "_hash", "_sha"];

/// What columns are called whose numbers, where each row of a table has its own, tell in which order they
/// were measured.
pub(crate) const RUNS: [&str; 13] = [
    "run",
    "execution",
    "exec",
    "repetition",
    "repeat",
    "rep",
    "replicate",
    "replication",
    "trial",
    "attempt",
    "invocation",
    "iteration",
    "iter",
];

/// What columns of sessions are called, in which several rows were measured.
pub(crate) const SESSIONS: [&str; 5] = ["session", "sessions", "sitting", "boot", "day"];
/// The same of columns that hold how large something is, unless they were named as executions or blocks.
pub(crate) const BATCHES: [&str; 2] = ["batch", "batches"];

/// What columns are called that number or describe subjects: a version, a variant, a process, a remark.
pub(crate) const DESCRIPTIONS: [&str; 31] = [
    "subject",
    "variant",
    "arm",
    "treatment",
    "group",
    "config",
    "configuration",
    "label",
    "name",
    "id",
    "pid",
    "version",
    "kernel",
    "kernel_version",
    "kernel_release",
    "release",
    "revision",
    "commit",
    "build",
    "hash",
    "sha",
    "comment",
    "comments",
    "description",
    "note",
    "notes",
    "remark",
    "title",
    "file",
    "filename",
    "path",
];
/// What columns of machines are called: each may be unlike the others, and is no execution.
pub(crate) const MACHINES: [&str; 3] = ["host", "hostname", "machine"];
/// What columns are called that tell executions apart, but for what follows it.
pub(crate) const EXECUTIONS: [&str; 17] = [
    "run",
    "execution",
    "exec",
    "repetition",
    "repeat",
    "rep",
    "replicate",
    "replication",
    "trial",
    "attempt",
    "round",
    "block",
    "batch",
    "session",
    "boot",
    "day",
    "date",
];
/// What else a column may be called that alone tells executions apart: a count of them, or what each
/// was given. Beside a column of executions it may count their parts.
pub(crate) const COUNTS: [&str; 15] = [
    "launch",
    "experiment",
    "pass",
    "seed",
    "time",
    "number",
    "num",
    "nr",
    "no",
    "index",
    "idx",
    "id",
    "i",
    "n",
    "row",
];
/// What of these is abbreviated: a run and a block.
pub(crate) const LETTERS: [&str; 2] = ["r", "b"];
/// What may follow such a name: `cpu_id`, `thread_nr`.
pub(crate) const SUFFIXES: [&str; 8] =
    ["_id", "_ids", "id", "_no", "_nr", "_number", "_index", "_name"];
