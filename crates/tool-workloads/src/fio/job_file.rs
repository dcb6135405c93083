//! What a user's job file may name: what lies in the target, and no programs. fio runs as root,
//! so that a slip of the pen could cost another disk. This does not stop a user who means
//! harm: the author of a job file can run fio without us.

/// What stands for the target.
pub(super) const TARGET: &str = "${SCHEDLAB_TARGET}";

/// Options that name what is read and written. fio takes a section's own name for a file, too,
/// so `name` and sections are held to the same.
const FILES: [&str; 5] = ["filename", "filename_format", "directory", "opendir", "replay_redirect"];
/// Options that name what fio writes down of a run.
const NOTES: [&str; 7] = [
    "name",
    "write_iolog",
    "write_bw_log",
    "write_lat_log",
    "write_iops_log",
    "write_hist_log",
    "merge_blktrace_file",
];
/// Options that are refused whatever they say, and why.
const REFUSED: [(&str, &str); 6] = [
    ("exec_prerun", "it runs a program as root: do that before the campaign"),
    ("exec_postrun", "it runs a program as root: do that after the campaign"),
    ("program", "it runs a program as root: use the workload command"),
    ("read_iolog", "a log names devices of its own: say with rw what is done"),
    ("ioscheduler", "it switches an elevator: use the factor elevator"),
    ("cgroup", "it leaves the group of the trial: use the factors of groups"),
];
const ALLOWED: &str = "use ${SCHEDLAB_TARGET}, or a name in it";

/// Everything that such a file may not say, each with its line and what to do instead. Relative
/// names lie in the target's directory; a device has none.
pub(super) fn problems(text: &str, is_device: bool) -> Vec<String> {
    let mut problems = Vec::new();
    // Whether all later sections name a file, and the section that does not name one yet.
    let (mut all_do, mut nameless): (bool, Option<(usize, &str)>) = (false, None);
    let mut is_global = false;
    let no_file = |(line, name): (usize, &str)| {
        format!(
            "line {line}: [{name}] names no file, and a device is no directory: use filename={TARGET}"
        )
    };
    for (number, line) in (1..).zip(text.lines()) {
        // fio cuts a line at either sign, wherever it stands.
        let line = line.split([';', '#']).next().unwrap_or_default().trim();
        if let Some(section) = line.strip_prefix('[') {
            problems.extend(nameless.take().map(no_file));
            let section = section.trim_end_matches(']');
            is_global = section.starts_with("global");
            nameless = (is_device && !is_global && !all_do).then_some((number, section));
            if !is_inside(section, false) {
                problems.push(format!(
                    "line {number}: [{section}] is taken for a file outside of the target: {ALLOWED}"
                ));
            }
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let (key, value) = (key.trim(), value.trim());
        if key == "filename" {
            all_do |= is_global;
            nameless = None;
        }
        problems.extend(problem(key, value, is_device).map(|why| format!("line {number}: {why}")));
    }
    problems.extend(nameless.map(no_file));
    problems
}

/// Why an option may not be used so, and what to do instead.
fn problem(key: &str, value: &str, is_device: bool) -> Option<String> {
    // fio looks for this word only, whatever follows.
    if key.starts_with("include") {
        return Some("include reads another file: write its lines here".to_owned());
    }
    if key.contains("${") {
        return Some(format!("{key} is an option that only a variable tells: write its name"));
    }
    if let Some((_, why)) = REFUSED.iter().find(|(name, _)| *name == key) {
        return Some(format!("{key}: {why}"));
    }
    let is_engine = key == "ioengine";
    if is_engine && (value == "exec" || value.starts_with("external") || value.contains(['/', '$']))
    {
        return Some(format!(
            "{key}={value}: it runs a program as root: use an engine of fio's own"
        ));
    }
    let is_mapped = ["mem", "iomem"].contains(&key) && value.contains([':', '$']);
    if is_mapped {
        return Some(format!("{key}={value}: it maps a file: leave out what follows the colon"));
    }
    let is_file = FILES.contains(&key);
    let is_checked = is_file || (NOTES.contains(&key) && !value.is_empty());
    // A list has colons; where fio would take one for a part of a name this is only stricter.
    let is_inside = value.split(':').all(|name| is_inside(name, is_device && is_file));
    (is_checked && !is_inside).then(|| {
        let allowed = if is_device && is_file { "use ${SCHEDLAB_TARGET}" } else { ALLOWED };
        format!("{key}={value} is not in the target: {allowed}")
    })
}

/// Whether a name is the target or lies in it.
fn is_inside(name: &str, is_device: bool) -> bool {
    let name = name.trim();
    let inner = match name.strip_prefix(TARGET) {
        Some("") => return true,
        // A device has nothing in it.
        _ if is_device => return false,
        Some(rest) => match rest.strip_prefix('/') {
            Some(inner) => inner,
            None => return false,
        },
        None => name,
    };
    let climbs = inner.split('/').any(|part| part == "..");
    !inner.starts_with('/') && !inner.contains("${") && !climbs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Vec<String> {
        problems(&format!("[global]\nsize=1M\n[job]\n{line}\n"), false)
    }

    #[test]
    fn what_lies_in_the_target_is_allowed() {
        for line in [
            "filename=${SCHEDLAB_TARGET}",
            "filename = ${SCHEDLAB_TARGET}/file ; of its own",
            "filename=one:two/three:${SCHEDLAB_TARGET}/four",
            "directory=${SCHEDLAB_TARGET}",
            "directory=here",
            "filename_format=$jobname.$filenum",
            "filename=file..with..dots",
            "write_bw_log=bandwidth",
            "write_lat_log",
            "# filename=/dev/sda",
            "; exec_prerun=rm -rf /",
            "ioengine=libaio",
            "iomem=mmap",
            "size=${SIZE}",
            "description=as /dev/sda was",
        ] {
            assert_eq!(of(line), Vec::<String>::new(), "{line}");
        }
    }

    #[test]
    fn names_outside_of_the_target_are_refused_with_their_line_and_a_remedy() {
        for line in [
            "filename=/dev/sda",
            "  filename =/etc/passwd # a slip",
            "filename=one:/dev/sda",
            "filename=one\\:/dev/sda",
            "filename=../other",
            "filename=one/../../other",
            "filename=${SCHEDLAB_TARGET}/../other",
            "filename=${SCHEDLAB_TARGET}1",
            "filename=${HOME}/file",
            "filename=a${SCHEDLAB_TARGET}",
            "directory=/srv",
            "directory=here:/srv",
            "opendir=/srv",
            "filename_format=/dev/sd$jobnum",
            "replay_redirect=/dev/sda",
            "name=/dev/sda",
            "write_bw_log=/etc/bandwidth",
            "write_iolog=../log",
            "merge_blktrace_file=/srv/trace",
        ] {
            let found = of(line);
            assert_eq!(found.len(), 1, "{line}: {found:?}");
            assert!(found[0].starts_with("line 4: "), "{line}: {found:?}");
            assert!(
                found[0].ends_with("is not in the target: use ${SCHEDLAB_TARGET}, or a name in it"),
                "{found:?}"
            );
        }
        let found = problems("[/dev/sda]\nrw=write\n[../job]\nrw=write", false);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].starts_with("line 1: [/dev/sda] is taken for a file outside"),
            "{found:?}"
        );
        assert!(found[1].starts_with("line 3: [../job] is taken for a file outside"), "{found:?}");
    }

    #[test]
    fn what_runs_programs_or_says_what_it_is_elsewhere_is_refused() {
        for (line, why) in [
            ("exec_prerun=mkfs /dev/sda", "exec_prerun: it runs a program as root"),
            ("exec_postrun = reboot", "exec_postrun: it runs a program as root"),
            ("program=/bin/sh", "it runs a program as root: use the workload command"),
            ("ioengine=exec", "ioengine=exec: it runs a program as root"),
            ("ioengine=external:/tmp/engine.so", "use an engine of fio's own"),
            ("ioengine=/tmp/engine.so", "use an engine of fio's own"),
            ("ioengine=${ENGINE}", "use an engine of fio's own"),
            ("iomem=mmap:/dev/sda", "it maps a file"),
            ("mem=mmaphuge:file", "it maps a file"),
            ("include other.fio", "include reads another file: write its lines here"),
            ("${OPTION}=/dev/sda", "${OPTION} is an option that only a variable tells"),
            ("read_iolog=log", "a log names devices of its own"),
            ("ioscheduler=bfq", "use the factor elevator"),
            ("cgroup=other", "it leaves the group of the trial"),
        ] {
            let found = of(line);
            assert_eq!(found.len(), 1, "{line}: {found:?}");
            assert!(found[0].starts_with("line 4: ") && found[0].contains(why), "{found:?}");
        }
    }

    #[test]
    fn on_a_device_every_job_names_it() {
        let of = |text: &str| problems(text, true);
        let good = "[global]\nfilename=${SCHEDLAB_TARGET}\n[a]\nrw=read\n[b]\nwrite_bw_log=b\n";
        assert_eq!(of(good), Vec::<String>::new());
        assert_eq!(of("[a]\nfilename=${SCHEDLAB_TARGET}\n"), Vec::<String>::new());
        for (text, why) in [
            ("[a]\nrw=read\n[b]\nfilename=${SCHEDLAB_TARGET}\n", "line 1: [a] names no file"),
            ("[a]\nfilename=${SCHEDLAB_TARGET}\n[b]\n", "line 3: [b] names no file"),
            (
                "[a]\nfilename=file\n",
                "line 2: filename=file is not in the target: use ${SCHEDLAB_TARGET}",
            ),
            ("[a]\nfilename=${SCHEDLAB_TARGET}/file\n", "line 2: filename=${SCHEDLAB_TARGET}/file"),
        ] {
            let found = of(text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].starts_with(why), "{found:?}");
        }
    }
}
