//! Whether a guest was lost because its processor was emulated wrongly, which says nothing of
//! what ran on it.

use super::qemu::Engine;

/// How the kernel of a guest ends (arch/x86/kernel/dumpstack.c, `__die_header`) that met a
/// breakpoint which is not there. It patches its own code by way of breakpoints, as when a
/// scheduler comes or goes. An emulated processor may still meet one when the others have it
/// replaced, and a kernel that has set none stops (seen with QEMU 7.2 and two or four emulated
/// processors in parallel; not with one).
const STRAY_BREAKPOINT: &str = "int3: 0000 [#";
/// What stands before the flags in the registers of an oops (arch/x86/kernel/process_64.c,
/// `__show_regs`).
const FLAGS: &str = "EFLAGS: ";
/// Flags that no x86 processor can hold: Intel SDM volume 1, 3.4.3, keeps bits 3, 5, 15 and 22
/// to 31 at zero. QEMU 7.2 was seen to go on with a part of an address in their place, until a
/// double fault in code that cannot fail.
const ALWAYS_ZERO: u32 = 0xffc0_8028;

/// What of the console's last lines tells that the emulator is to blame; `None` where nothing
/// does, or the processor was none.
pub(crate) fn fault(engine: Engine, vcpus: usize, last_lines: &str) -> Option<&str> {
    if engine == Engine::Kvm {
        return None;
    }
    let is_parallel = engine == Engine::Tcg && vcpus > 1;
    last_lines
        .split(" | ")
        .find(|line| is_parallel && line.contains(STRAY_BREAKPOINT) || has_impossible_flags(line))
}

fn has_impossible_flags(line: &str) -> bool {
    let Some((_, flags)) = line.split_once(FLAGS) else {
        return false;
    };
    // All eight digits, or the line was cut.
    let flags = flags.get(..8).unwrap_or("");
    u32::from_str_radix(flags, 16).is_ok_and(|flags| flags & ALWAYS_ZERO != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BREAKPOINT: &str = "[   71.4] Oops: int3: 0000 [#1] SMP NOPTI | [   71.5] CPU: 1 UID: 0";

    fn flags(flags: &str) -> String {
        format!("[   16.0] Oops: double fault: 0000 [#1] | [   16.1] RSP: 0018:ff EFLAGS: {flags}")
    }

    #[test]
    fn a_stray_breakpoint_is_a_fault_of_several_emulated_processors() {
        let line = fault(Engine::Tcg, 2, BREAKPOINT);
        assert_eq!(line, Some("[   71.4] Oops: int3: 0000 [#1] SMP NOPTI"));
        assert_eq!(fault(Engine::Tcg, 1, BREAKPOINT), None);
        assert_eq!(fault(Engine::Counting { seed: 1 }, 2, BREAKPOINT), None);
        assert_eq!(fault(Engine::Kvm, 2, BREAKPOINT), None);
        assert_eq!(fault(Engine::Tcg, 2, "Kernel panic - not syncing: sysrq"), None);
    }

    #[test]
    fn flags_that_no_processor_can_hold_are_a_fault_of_the_emulated_one() {
        let seen = flags("06679602");
        let line = fault(Engine::Tcg, 1, &seen);
        assert_eq!(line, Some("[   16.1] RSP: 0018:ff EFLAGS: 06679602"));
        assert_eq!(fault(Engine::Kvm, 1, &seen), None);
        // Interrupts on, the resume flag, and all that a program may set.
        for possible in ["00000246", "00010646", "00250ed7", "0667", "x", ""] {
            assert_eq!(fault(Engine::Tcg, 1, &flags(possible)), None, "{possible}");
        }
    }
}
