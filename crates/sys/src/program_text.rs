//! madvise(2) on the program's own instructions: pages that are needed no longer.

use std::fs;
use std::io;
use std::ops::Range;

/// Takes the pages of the program's instructions out of this process. Those that still run come back
/// one by one, out of the kernel's cache; what only reading configuration or a campaign needed does
/// not. The program stays in the cache, for every process that runs it. Where a debugger or a uprobe
/// has put a breakpoint among them, all stay: the kernel's cache does not have it.
///
/// # Errors
/// When `/proc/self/smaps` cannot be read, or the kernel refuses.
pub fn return_program_text() -> io::Result<()> {
    let program = fs::read_link("/proc/self/exe")?;
    let maps = fs::read_to_string("/proc/self/smaps")?;
    for range in unchanged_text(&maps, &program.to_string_lossy()) {
        // SAFETY: the range is a private mapping of a file that this process may not write through, as
        // its permissions say: the kernel reads a page again when it is used, be it by another thread
        // at this moment. No page differed from the file. Only another process can have changed one
        // since, which then loses a breakpoint: the instruction of the file stands there again.
        let answer = unsafe {
            libc::madvise(
                std::ptr::with_exposed_provenance_mut(range.start),
                range.len(),
                libc::MADV_DONTNEED,
            )
        };
        if answer != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Where a program's instructions are mapped, and no page of them has become one of this process alone,
/// by the lines of proc(5)'s `smaps`. Constants have other permissions and are left alone: relocations
/// are written among them.
fn unchanged_text(maps: &str, program: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    // Whether the fields that follow are of the last one.
    let mut is_last = false;
    for line in maps.lines() {
        match line.split_once(':').filter(|(name, _)| !name.contains(' ')) {
            None => {
                let range = text_in(line, program);
                is_last = range.is_some();
                found.extend(range);
            }
            Some(("Anonymous" | "Swap", size)) if is_last && size.trim() != "0 kB" => {
                found.pop();
                is_last = false;
            }
            Some(_) => {}
        }
    }
    found
}

/// What a line tells that begins a mapping, where that is of the program's instructions.
fn text_in(line: &str, program: &str) -> Option<Range<usize>> {
    // Range, permissions, offset, device, inode, and the path behind spaces.
    let columns: Vec<&str> = line.splitn(6, ' ').collect();
    let [range, "r-xp", _, _, _, path] = columns[..] else { return None };
    let (start, end) = range.split_once('-').filter(|_| path.trim_start() == program)?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    Some(address(start)?..address(end)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;
    use std::mem::MaybeUninit;
    use std::os::unix::fs::FileExt;

    /// How often this thread needed a page that was not mapped.
    fn faults() -> i64 {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the kernel writes a whole one there, and all bytes zero are one, too.
        unsafe {
            assert_eq!(libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()), 0);
            usage.assume_init().ru_minflt
        }
    }

    /// Where the instructions of this test are mapped, unchanged.
    fn unchanged() -> Vec<Range<usize>> {
        let maps = fs::read_to_string("/proc/self/smaps").unwrap();
        let program = fs::read_link("/proc/self/exe").unwrap();
        unchanged_text(&maps, &program.to_string_lossy())
    }

    #[test]
    fn instructions_leave_the_process_and_those_that_run_on_come_back() {
        // All that is called below was called once, and what it holds was allocated.
        return_program_text().unwrap();
        assert_eq!([unchanged().len(), unchanged().len()], [1, 1]);
        let before = faults();
        unchanged();
        let looked = faults();
        return_program_text().unwrap();
        let returned = faults();
        let (by_looking, by_returning) = (looked - before, returned - looked);
        assert!(by_looking < by_returning, "{by_looking}, then {by_returning} faults");
    }

    #[test]
    fn instructions_stay_where_another_put_a_breakpoint_among_them() {
        let text = unchanged().remove(0);
        // As a debugger does, but what is written is what stood there.
        let memory = OpenOptions::new().read(true).write(true).open("/proc/self/mem").unwrap();
        let (mut byte, place) = ([0], text.start as u64);
        memory.read_exact_at(&mut byte, place).unwrap();
        if let Err(error) = memory.write_all_at(&byte, place) {
            testing::skip(&format!("this kernel lets nobody write instructions: {error}"));
            return;
        }
        assert!(!unchanged().contains(&text));
        return_program_text().unwrap();
        assert!(!unchanged().contains(&text), "the page with the breakpoint is gone");
    }

    #[test]
    fn instructions_are_told_from_constants_and_from_what_others_map() {
        let maps = "5000-6000 r--p 00000000 08:01 7  /bin/a program\n\
             Anonymous:             4 kB\n\
             6000-9000 r-xp 00001000 08:01 7  /bin/a program\n\
             Size:                 12 kB\nAnonymous:             0 kB\nSwap:                  0 kB\n\
             VmFlags: rd ex mr mw me\n\
             9000-a000 rw-p 00004000 08:01 7  /bin/a program\n\
             Anonymous:             4 kB\n\
             b000-c000 r-xp 00000000 08:01 8  /lib/other.so\n\
             Anonymous:             4 kB\n\
             d000-e000 r-xp 00000000 00:00 0  [vdso]\n\
             f000-f800 r-xp 00000000 08:01 9  /other/bin/a program\nodd line\n";
        let found = unchanged_text(maps, "/bin/a program");
        assert_eq!(found, std::slice::from_ref(&(0x6000..0x9000)));
        let other =
            maps.replace("Size:                 12 kB\nAnonymous:             0", "Anonymous: 4");
        let swapped = maps.replace("Swap:                  0", "Swap: 4");
        for changed in [other, swapped] {
            assert_ne!(changed, maps);
            assert_eq!(unchanged_text(&changed, "/bin/a program"), []);
        }
    }
}
