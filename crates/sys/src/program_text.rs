//! madvise(2) on the program's own instructions: pages that are needed no longer.

use std::fs;
use std::io;
use std::ops::Range;

/// Takes the pages of the program's instructions out of this process. Those that still run come back
/// one by one, out of the kernel's cache; what only reading configuration or a campaign needed does
/// not. The program stays in the cache, for every process that runs it.
///
/// # Errors
/// When `/proc/self/maps` cannot be read, or the kernel refuses.
pub fn return_program_text() -> io::Result<()> {
    let program = fs::read_link("/proc/self/exe")?;
    let maps = fs::read_to_string("/proc/self/maps")?;
    for range in text_of(&maps, &program.to_string_lossy()) {
        // SAFETY: the range is a private mapping of a file that nobody may write through, as its
        // permissions say, so that no page of it differs from the file: the kernel reads it again
        // when it is used, be it by another thread at this moment.
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

/// Where a program's instructions are mapped, by the lines of proc(5)'s `maps`. Constants have other
/// permissions and are left alone: relocations are written among them.
fn text_of<'m>(maps: &'m str, program: &'m str) -> impl Iterator<Item = Range<usize>> + 'm {
    maps.lines().filter_map(move |line| {
        // Range, permissions, offset, device, inode, and the path behind spaces.
        let columns: Vec<&str> = line.splitn(6, ' ').collect();
        let [range, "r-xp", _, _, _, path] = columns[..] else { return None };
        let (start, end) = range.split_once('-').filter(|_| path.trim_start() == program)?;
        let address = |text| usize::from_str_radix(text, 16).ok();
        Some(address(start)?..address(end)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::MaybeUninit;

    /// How often this thread needed a page that was not mapped.
    fn faults() -> i64 {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the kernel writes a whole one there, and all bytes zero are one, too.
        unsafe {
            assert_eq!(libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()), 0);
            usage.assume_init().ru_minflt
        }
    }

    #[test]
    fn instructions_leave_the_process_and_those_that_run_on_come_back() {
        // All that is called below was called once, and what it holds was allocated.
        return_program_text().unwrap();
        let found = || {
            let maps = fs::read_to_string("/proc/self/maps").unwrap();
            let program = fs::read_link("/proc/self/exe").unwrap();
            text_of(&maps, &program.to_string_lossy()).count()
        };
        assert_eq!([found(), found()], [1, 1]);
        let before = faults();
        found();
        let looked = faults();
        return_program_text().unwrap();
        let returned = faults();
        let (by_looking, by_returning) = (looked - before, returned - looked);
        assert!(by_looking < by_returning, "{by_looking}, then {by_returning} faults");
    }

    #[test]
    fn instructions_are_told_from_constants_and_from_what_others_map() {
        let maps = "5000-6000 r--p 00000000 08:01 7  /bin/a program\n\
             6000-9000 r-xp 00001000 08:01 7  /bin/a program\n\
             9000-a000 rw-p 00004000 08:01 7  /bin/a program\n\
             b000-c000 r-xp 00000000 08:01 8  /lib/other.so\n\
             d000-e000 r-xp 00000000 00:00 0  [vdso]\n\
             f000-f800 r-xp 00000000 08:01 9  /other/bin/a program\nodd line\n";
        let found: Vec<_> = text_of(maps, "/bin/a program").collect();
        assert_eq!(found, std::slice::from_ref(&(0x6000..0x9000)));
    }
}
