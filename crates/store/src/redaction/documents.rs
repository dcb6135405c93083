//! The documents of a campaign, walked as JSON: what is a word of ours stays, every other text is
//! searched for secrets.

use super::kernel_line;
use super::kind::SecretKind;
use super::replacer::Replacer;
use contract::shared_names::{COMMAND_LINES, DIRECTORY, JOB_FILE, PICKED, PICKS};
use model::{Caveat, CaveatCode, DetailWords};
use serde_json::{Map, Value};

/// Fields whose text is one of our own words, or numbers in disguise.
const OURS: [&str; 22] = [
    "accelerator",
    "alpha",
    "code",
    "comparisons",
    "design",
    "digest",
    "direction",
    "facts",
    "fingerprint",
    "format",
    "hdr",
    "histogram",
    "kind",
    "probes",
    "reduction",
    "role",
    "rule",
    "session",
    "state",
    "unit",
    "uses",
    "venue",
];
/// Maps whose keys are names that somebody gave, or paths.
const NAMED: [&str; 5] =
    ["failure_rate", "fingerprint", "fingerprint_difference", "setting_ns", "table"];
/// A kernel's configuration is public, and its digest tells kernels apart.
const PUBLIC: &str = "kernel.config_digest";
/// What a key of a fingerprint begins with that names a program's file.
const PROGRAM: &str = "program.";
/// What a workload was given; its command lines are known by their names, whatever the workload is.
const PARAMETERS: &str = "parameters";
/// Parameters that are paths as a whole, relative ones too, which nothing in them shows.
pub(super) const PATHS: [&str; 2] = [DIRECTORY, JOB_FILE];

/// Adds what documents give away themselves: names in home directories and addresses, command
/// lines, names of imported files. Placeholders of a redaction before are noted.
pub(super) fn learn(value: &Value, replacer: &mut Replacer, is_ordinary: &dyn Fn(&str) -> bool) {
    match value {
        Value::String(text) => {
            replacer.note_former(text);
            for (kind, name) in super::patterns::names(text) {
                if !is_ordinary(&name) {
                    replacer.add(kind, &name);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| learn(item, replacer, is_ordinary)),
        Value::Object(fields) => {
            for (key, field) in fields {
                learn(&Value::String(key.clone()), replacer, is_ordinary);
                learn(field, replacer, is_ordinary);
            }
            let parameters = fields.get(PARAMETERS).and_then(Value::as_object);
            for line in parameters.into_iter().flat_map(command_lines) {
                learn_command(&line, replacer, is_ordinary);
            }
            if let Some(file) = value.pointer("/imported/file").and_then(Value::as_str) {
                let named = file.split(", ").chain(given_files(fields));
                for part in named.flat_map(|part| [part, stem(part)]) {
                    if part.contains(char::is_alphanumeric) && !is_ordinary(part) {
                        replacer.add(SecretKind::File, part);
                    }
                }
            }
        }
        _ => {}
    }
}

/// The names of the files that an import was given, by its options: what it says of its file may have
/// been edited. They stand before all that begins with dashes, some as `SUBJECT=PATH`.
fn given_files(plan: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let options = plan.get("options").and_then(Value::as_array).into_iter().flatten();
    let words = options.filter_map(Value::as_str).take_while(|word| !word.starts_with("--"));
    words.map(|word| {
        let path = word.split_once('=').map_or(word, |(_, path)| path);
        path.rsplit('/').next().unwrap_or(path)
    })
}

fn stem(file: &str) -> &str {
    file.split_once('.').map_or(file, |(stem, _)| stem)
}

/// A command line's words, and what they are made of.
pub(super) fn learn_command(
    words: &[&str],
    replacer: &mut Replacer,
    is_ordinary: &dyn Fn(&str) -> bool,
) {
    if words.len() > 1 {
        replacer.add(SecretKind::Command, &words.join(" "));
    }
    for word in words {
        let parts = word.split(|c: char| c.is_whitespace() || "=,:/".contains(c));
        for part in parts.chain([*word]).map(|part| part.trim_start_matches('-')) {
            let says_something = part.chars().count() >= 3 && part.contains(char::is_alphabetic);
            if says_something && !is_ordinary(part) {
                replacer.add(SecretKind::Argument, part);
            }
        }
    }
}

/// The placeholder of a command line, however it was quoted.
pub(super) fn command(line: &str, replacer: &mut Replacer) -> String {
    let is_quoting = |c: char| c.is_whitespace() || "\"'\\".contains(c);
    let bare: Vec<&str> = line.split(is_quoting).filter(|part| !part.is_empty()).collect();
    replacer.placeholder(SecretKind::Command, &bare.join(" "))
}

/// Replaces the secrets below a field.
pub(super) fn redact(key: &str, value: &mut Value, replacer: &mut Replacer) {
    match value {
        Value::String(text) => *text = text_of(key, text, replacer),
        Value::Array(items) => {
            items.iter_mut().for_each(|item| redact(key, item, replacer));
        }
        Value::Object(fields) => {
            if let Some(Value::Object(parameters)) = fields.get_mut(PARAMETERS) {
                redact_parameters(parameters, replacer);
            }
            // A failure has a detail as well, and no code.
            let words_of_detail = fields.get("code").map(detail_words);
            let taken = std::mem::take(fields);
            for (name, mut field) in taken {
                match (name.as_str(), words_of_detail, &mut field) {
                    ("detail", Some(words), Value::String(text)) => {
                        *text = detail(words, text, replacer);
                    }
                    (name, _, field) => redact(name, field, replacer),
                }
                let name = if NAMED.contains(&key) { name_of(&name, replacer) } else { name };
                fields.insert(name, field);
            }
        }
        _ => {}
    }
}

fn text_of(key: &str, text: &str, replacer: &mut Replacer) -> String {
    // A level that is a parameter is called by its workload, too: `command.directory`.
    let level = key.split_once('.').map(|(_, parameter)| parameter);
    let is_level_of = |names: &[&str]| level.is_some_and(|parameter| names.contains(&parameter));
    match key {
        PUBLIC => text.to_owned(),
        key if OURS.contains(&key) => text.to_owned(),
        "kernel.command_line" => kernel_line::redacted(text, replacer),
        "reason" | "detail" | "failure" => failure(text, replacer),
        // A fact says what the caveat says that it decides by.
        "told" => without_quoted(text, replacer),
        key if PATHS.contains(&key) || is_level_of(&PATHS) => path(text, replacer),
        _ if is_level_of(&COMMAND_LINES) && !text.is_empty() => command(text, replacer),
        _ => replacer.text(text),
    }
}

/// `program./opt/acme/run`: the path behind the dot.
fn name_of(name: &str, replacer: &mut Replacer) -> String {
    match name.strip_prefix(PROGRAM) {
        Some(path) => format!("{PROGRAM}{}", replacer.text(path)),
        None => replacer.text(name),
    }
}

/// The placeholder of a text that is a path; an empty one is none.
pub(super) fn path(text: &str, replacer: &mut Replacer) -> String {
    if text.is_empty() { String::new() } else { replacer.placeholder(SecretKind::Path, text) }
}

/// Why something failed: our words up to the first colon, then what a program, a guest's console
/// or a kernel said, which may hold anything.
fn failure(text: &str, replacer: &mut Replacer) -> String {
    let end = text.find([':', '\n', '`', '"']).unwrap_or(text.len());
    let (ours, said) = text.split_at(end);
    let ours = replacer.text(ours);
    if said.trim_matches([':', '\n', ' ']).is_empty() {
        return ours;
    }
    format!("{ours}: {}", replacer.placeholder(SecretKind::Output, said))
}

/// What the detail of a caveat has of words of others, by its code.
fn detail_words(code: &Value) -> DetailWords {
    let known = CaveatCode::ALL.iter().find(|known| code == known.as_str());
    known.map_or(DetailWords::Ours, |code| code.detail_words())
}

/// The detail of a caveat without secrets.
pub(super) fn detail_of(caveat: &Caveat, replacer: &mut Replacer) -> String {
    detail(caveat.code.detail_words(), &caveat.detail, replacer)
}

/// Our words, and what stands in them between two signs of quotation (`model::quoted`).
fn without_quoted(text: &str, replacer: &mut Replacer) -> String {
    let mut redacted = String::new();
    for (at, part) in text.split('`').enumerate() {
        if at > 0 {
            redacted.push('`');
        }
        let is_quoted = at % 2 == 1 && !part.is_empty();
        redacted += &if is_quoted {
            replacer.placeholder(SecretKind::Setting, part)
        } else {
            replacer.text(part)
        };
    }
    redacted
}

/// What a caveat says: our words up to the first colon, then what its code has of others.
fn detail(words: DetailWords, text: &str, replacer: &mut Replacer) -> String {
    let kind = match words {
        DetailWords::Ours => return replacer.text(text),
        DetailWords::Quoted => return without_quoted(text, replacer),
        DetailWords::Programs => SecretKind::Program,
        DetailWords::Settings => SecretKind::Setting,
        DetailWords::Messages => SecretKind::Output,
    };
    match text.split_once(": ") {
        Some((ours, others)) => {
            let others = replacer.placeholder(kind, others);
            format!("{}: {others}", replacer.text(ours))
        }
        None => replacer.text(text),
    }
}

/// The words of each command line among a workload's parameters, whatever the workload.
fn command_lines(parameters: &Map<String, Value>) -> impl Iterator<Item = Vec<&str>> {
    let given = COMMAND_LINES.into_iter().filter_map(move |name| parameters.get(name)?.as_object());
    given.map(|value| {
        let words = value.get("words").and_then(Value::as_array).into_iter().flatten();
        let text = value.get("text").and_then(Value::as_str).into_iter();
        let text = text.flat_map(str::split_whitespace);
        words.filter_map(Value::as_str).chain(text).collect()
    })
}

/// The parameters of a workload: each command line and each path is one word, and where metrics are
/// found goes.
fn redact_parameters(parameters: &mut Map<String, Value>, replacer: &mut Replacer) {
    for name in PATHS {
        let given = parameters.get_mut(name).and_then(|value| value.get_mut("text"));
        if let Some(Value::String(text)) = given {
            *text = path(text, replacer);
        }
    }
    for name in COMMAND_LINES {
        let Some(Value::Object(value)) = parameters.get_mut(name) else { continue };
        if let Some(Value::Array(words)) = value.get_mut("words")
            && !words.is_empty()
        {
            let line: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            *words = vec![command(&line.join(" "), replacer).into()];
        }
        if let Some(Value::String(text)) = value.get_mut("text")
            && !text.is_empty()
        {
            *text = command(text, replacer);
        }
    }
    let tables = parameters.get_mut(PICKED).and_then(|metrics| metrics.get_mut("table"));
    for table in tables.and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut) {
        for (name, field) in table.as_object_mut().into_iter().flatten() {
            if let (true, Value::String(text)) = (PICKS.contains(&name.as_str()), field) {
                *text = replacer.placeholder(SecretKind::Pattern, text);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_reason_keeps_our_words_and_loses_what_a_program_said() {
        let mut replacer = Replacer::default();
        for (text, expected) in [
            ("ran longer than its limit of 30 s", "ran longer than its limit of 30 s"),
            ("exit status 1: cannot open key 77", "exit status 1: redacted-output-1"),
            ("panic:\n[1.0] acme", "panic: redacted-output-2"),
            ("policy read back /opt/x", "policy read back /redacted-path-1"),
        ] {
            assert_eq!(failure(text, &mut replacer), expected);
        }
    }

    #[test]
    fn what_was_left_running_keeps_its_number_and_loses_its_names() {
        let ours = "2 processes were still there after 1 invocation and were ended";
        let redacted = |code: &str, detail: String| {
            let mut value = json!({"code": code, "detail": detail});
            redact("", &mut value, &mut Replacer::default());
            value["detail"].as_str().unwrap().to_owned()
        };
        assert_eq!(
            redacted("LEFT_PROCESSES", format!("{ours}: acme (1), key: 77 (1)")),
            format!("{ours}: redacted-program-1")
        );
        assert_eq!(redacted("STEAL", "1: 5".to_owned()), "1: 5", "other caveats are ours");
    }

    #[test]
    fn the_detail_of_each_caveat_keeps_our_words_and_loses_those_of_others_behind_the_colon() {
        for code in CaveatCode::ALL {
            let mut value = json!([{"code": code.as_str(), "detail": "by 2 of 3: acme, key: 77"}]);
            redact("caveats", &mut value, &mut Replacer::default());
            let expected = match code.detail_words() {
                DetailWords::Ours | DetailWords::Quoted => "by 2 of 3: acme, key: 77",
                DetailWords::Programs => "by 2 of 3: redacted-program-1",
                DetailWords::Settings => "by 2 of 3: redacted-setting-1",
                DetailWords::Messages => "by 2 of 3: redacted-output-1",
            };
            assert_eq!(value[0]["detail"], expected, "{code}");
            let again = value.clone();
            redact("caveats", &mut value, &mut Replacer::default());
            assert_eq!(value, again, "{code}: a placeholder stays");
            let of_state = Caveat::new(*code, "by 2 of 3: acme, key: 77");
            assert_eq!(detail_of(&of_state, &mut Replacer::default()), expected, "{code}");
        }
    }

    #[test]
    fn no_program_setting_or_message_that_a_caveat_names_is_left_in_it() {
        for (code, ours, others) in [
            ("SUSPENDED", "a process of the trial was stopped for 3.0 s at least", "acme (7)"),
            ("SETTINGS_DIFFER", "by the tool's own words", "host_name (a: acme1; b: acme2)"),
            (
                "CONDITIONAL_SUCCESS",
                "requests that Gatling could not make are in no number",
                "a (2 like: UnknownHostException: acme)",
            ),
        ] {
            let mut value = json!({"code": code, "detail": format!("{ours}: {others}")});
            redact("", &mut value, &mut Replacer::default());
            let told = value["detail"].as_str().unwrap();
            assert!(told.starts_with(&format!("{ours}: redacted-")), "{code}: {told}");
            assert!(!told.contains("acme"), "{code}: {told}");
        }
        let told = "a process of the trial was stopped for 3.0 s at least: acme (7)";
        let mut value = json!({"kind": "invalid", "rule": "SUSPENDED", "detail": told});
        redact("", &mut value, &mut Replacer::default());
        assert!(!value.to_string().contains("acme"), "{value}");
    }

    #[test]
    fn values_of_evidence_that_was_changed_are_replaced_and_what_is_told_of_them_stays() {
        let told = |from: &str, to: &str| {
            format!(
                "plan.json: workloads fio directory is {}, and experiment.toml gives {}",
                model::quoted(from),
                model::quoted(to)
            )
        };
        let expected = "plan.json: workloads fio directory is `redacted-setting-1`, and \
                        experiment.toml gives `redacted-setting-2`";
        let mut replacer = Replacer::default();
        for text in [told("acme/a`b", "acme/c"), expected.to_owned()] {
            let caveat = Caveat::new(CaveatCode::EvidenceChanged, text);
            assert_eq!(detail_of(&caveat, &mut replacer), expected, "a placeholder stays");
        }
        // A sign that nobody closed hides what stands behind it.
        let open = Caveat::new(CaveatCode::EvidenceChanged, "is `acme");
        assert_eq!(detail_of(&open, &mut replacer), "is `redacted-setting-3");
        let mut value =
            json!({"facts": [{"changed_evidence": {"told": told("acme/a`b", "acme/c")}}]});
        redact("", &mut value, &mut replacer);
        assert_eq!(value["facts"][0]["changed_evidence"]["told"], expected);
    }

    #[test]
    fn words_of_ours_stay_and_names_are_replaced_as_keys_too() {
        let mut replacer = Replacer::default();
        replacer.add(SecretKind::User, "lower");
        let mut value = json!({
            "direction": "lower", "summary": "Lower case",
            "setting_ns": {"lower-slice": 7},
            "histogram": {"hdr": "HISTF/lower/0123456789abcdef"},
            "fingerprint": {"program./opt/x": "00", "kernel.config_digest": "0123456789abcdef"},
        });
        redact("", &mut value, &mut replacer);
        assert_eq!(
            value,
            json!({
                "direction": "lower", "summary": "redacted-user-1 case",
                "setting_ns": {"redacted-user-1-slice": 7},
                "histogram": {"hdr": "HISTF/lower/0123456789abcdef"},
                "fingerprint": {"program./redacted-path-1": "00", "kernel.config_digest": "0123456789abcdef"},
            })
        );
    }

    #[test]
    fn a_file_that_an_import_was_given_is_known_where_its_name_was_edited() {
        let mut replacer = Replacer::default();
        let mut value = json!({
            "options": ["a=in/acme.csv", "zork.csv", "--title", "Which"],
            "imported": {"file": "other.csv"},
        });
        learn(&value, &mut replacer, &|_| false);
        redact("", &mut value, &mut replacer);
        let told = value.to_string();
        assert!(!["acme", "zork", "other"].iter().any(|name| told.contains(name)), "{told}");
        assert!(told.contains("Which") && told.contains("a="), "{told}");
    }

    #[test]
    fn a_fact_stays_and_what_it_tells_loses_its_names() {
        let mut replacer = Replacer::default();
        replacer.add(SecretKind::User, "emulated");
        let mut value = json!({
            "facts": ["emulated", {"fixed_order": {"told": "all of emulated before b"}}],
        });
        redact("", &mut value, &mut replacer);
        let told = json!({"fixed_order": {"told": "all of redacted-user-1 before b"}});
        assert_eq!(value, json!({"facts": ["emulated", told]}));
    }

    #[test]
    fn a_path_needs_no_slash_to_be_one() {
        let mut replacer = Replacer::default();
        let mut value =
            json!({"directory": "acme/secret", "job_file": "", "other": "/srv/acme/secret"});
        redact("", &mut value, &mut replacer);
        assert_eq!(
            value,
            json!({"directory": "/redacted-path-1", "job_file": "", "other": "/redacted-path-2"})
        );
        // As a plan has it.
        let mut value = json!({"uses": "fio", "parameters": {
            "directory": {"text": "acme/secret"}, "job_file": {"text": ""}, "rw": {"text": "read"},
        }});
        redact("", &mut value, &mut replacer);
        let expected = json!({"uses": "fio", "parameters": {
            "directory": {"text": "/redacted-path-1"}, "job_file": {"text": ""}, "rw": {"text": "read"},
        }});
        assert_eq!(value, expected);
        let mut value = json!({"levels": {"command.directory": "acme/secret", "nice": "5"}});
        redact("", &mut value, &mut replacer);
        let levels = json!({"command.directory": "/redacted-path-1", "nice": "5"});
        assert_eq!(value["levels"], levels);
    }

    #[test]
    fn a_command_is_one_word_however_it_was_quoted() {
        let mut replacer = Replacer::default();
        let mut value = json!({"uses": "command", "parameters": {
            "run": {"words": ["./acme", "--key", "a b"]},
            "metrics": {"table": {"rate": {"regex": "acme (.*)", "direction": "lower"}}},
        }});
        learn(&value, &mut replacer, &|_| false);
        redact("", &mut value, &mut replacer);
        assert_eq!(value["parameters"]["run"]["words"], json!(["redacted-command-1"]));
        let rate = &value["parameters"]["metrics"]["table"]["rate"];
        assert_eq!(*rate, json!({"regex": "redacted-pattern-1", "direction": "lower"}));
        assert_eq!(command("./acme --key 'a b'", &mut replacer), "redacted-command-1");
        assert_eq!(replacer.text("the ACME failed"), "the redacted-argument-1 failed");
    }

    #[test]
    fn every_command_line_is_replaced_whatever_the_workload_that_has_it() {
        for name in COMMAND_LINES {
            for run in [json!({"words": ["./acme", "--key"]}), json!({"text": "./acme --key"})] {
                let mut replacer = Replacer::default();
                let mut value =
                    json!({"uses": "some-later-one", "parameters": {name: run, "other": 1}});
                learn(&value, &mut replacer, &|_| false);
                redact("", &mut value, &mut replacer);
                let told = value.to_string();
                assert!(told.contains("redacted-command-1"), "{name}: {told}");
                assert!(!told.contains("acme") && !told.contains("--key"), "{name}: {told}");
                assert_eq!(replacer.text("acme failed"), "redacted-argument-1 failed", "{name}");
            }
        }
        let mut value = json!({"levels": {"service.drive": "./acme --key", "service.start": ""}});
        redact("", &mut value, &mut Replacer::default());
        let levels = json!({"service.drive": "redacted-command-1", "service.start": ""});
        assert_eq!(value["levels"], levels);
        let empty = json!({"uses": "service", "parameters": {
            "start": {"words": []}, "drive": {"text": ""}, "run": {"count": 1},
        }});
        let mut value = empty.clone();
        redact("", &mut value, &mut Replacer::default());
        assert_eq!(value, empty, "what is not given is no secret");
    }
}
