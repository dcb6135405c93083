//! Devices that a guest makes for a trial: null, simulated SCSI, loop, a disk of its own; with
//! every elevator of its kernel.

use super::{Guests, KERNELS, has_guests};

const KINDS: [(&str, &str); 4] = [
    ("null", "null:64M:100us:4"),
    ("scsi", "scsi:32M:100us"),
    ("loop", "loop:16M"),
    ("disk", "device:/dev/vda"),
];
const ELEVATORS: [&str; 4] = ["none", "mq-deadline", "bfq", "kyber"];

#[test]
fn every_kernel_makes_every_target_and_switches_every_elevator_on_it() {
    if !has_guests() {
        return;
    }
    for kernel in KERNELS {
        let guests = Guests::new();
        let mut subjects = 1;
        let mut rest = "disks = [\"virtio:16MiB\"]\n".to_owned();
        for (kind, target) in KINDS {
            for elevator in ELEVATORS {
                // Loop devices have no elevator there (BLK_MQ_F_NO_SCHED, drivers/block/loop.c).
                if (kernel, kind) == ("debian:5.10", "loop") && elevator != "none" {
                    continue;
                }
                subjects += 1;
                rest += &format!(
                    "[subjects.{kind}-{elevator}]\ntarget = \"{target}\"\nelevator = \"{elevator}\"\n"
                );
            }
        }
        rest += "[subjects.weighed]\ntarget = \"null:64M:100us:4\"\nelevator = \"bfq\"\n\
                 elevator_param = \"slice_idle=0\"\nnr_requests = \"64\"\nio_weight = \"500\"\n\
                 io_max = \"riops=2000\"\n\
                 [[workloads]]\nuse = \"io\"\nsize = \"1M\"\nrecord = \"64k\"\n\
                 operations = \"write read\"\n";
        let file =
            guests.experiment(&format!("blocks = 1\nkernel = \"{kernel}\"\nvcpus = \"1\""), &rest);
        guests.expect(0, &["run", &file]);
        let records = guests.records();
        assert_eq!(records.len(), subjects, "{kernel}");
        for record in &records {
            let subject = record["subject"].as_str().unwrap();
            assert_eq!(record["outcome"]["kind"], "completed", "{kernel} {subject}: {record}");
            let levels = &record["levels"];
            if let Some((_, elevator)) = subject.split_once('-') {
                assert_eq!(levels["elevator"]["before"], elevator, "{kernel} {subject}");
                assert_eq!(levels["elevator"]["after"], elevator, "{kernel} {subject}");
            } else {
                assert_eq!(levels["io_weight"]["after"], "500", "{kernel}");
                assert_eq!(levels["io_max"]["after"], "riops=2000", "{kernel}");
                assert_eq!(levels["elevator_param"]["after"], "slice_idle=0", "{kernel}");
            }
            let facts = &record["fingerprint_difference"];
            let device = facts["target.device"].as_str().unwrap();
            let is_expected = match subject.split('-').next().unwrap() {
                "scsi" => device.starts_with("sd") && facts["target.completion_ns"] == "100000",
                "loop" => device.starts_with("loop"),
                "disk" => device == "vda" && facts["target.cached_by"].is_string(),
                _ => facts["target.completion_ns"] == "100000",
            };
            assert!(is_expected, "{kernel} {subject}: {facts}");
        }
    }
}

#[test]
fn an_elevator_that_a_kernel_has_not_for_loop_devices_is_refused_before_anything_runs() {
    if !has_guests() {
        return;
    }
    let guests = Guests::new();
    let rest = "[subjects.none]\nelevator = \"none\"\n[subjects.bfq]\nelevator = \"bfq\"\n\
                [[workloads]]\nuse = \"io\"\nsize = \"1M\"\n";
    let keys = "blocks = 1\nkernel = \"debian:5.10\"\nvcpus = \"1\"\ntarget = \"loop:16M\"";
    let (_, told) = guests.expect(4, &["run", &guests.experiment(keys, rest)]);
    let told = told.replace('\n', " ");
    assert!(told.contains("the elevator bfq") && told.contains("the kernel offers none"), "{told}");
    assert!(told.contains("nothing ran"), "{told}");
}

#[test]
fn a_file_system_without_direct_io_is_refused_before_anything_runs() {
    if !has_guests() {
        return;
    }
    let guests = Guests::new();
    let rest = "[subjects.a]\n[subjects.b]\nionice = \"idle\"\n\
                [[workloads]]\nuse = \"io\"\nsize = \"1M\"\n";
    // Its tmpfs learnt O_DIRECT in 6.6 only (mm/shmem.c).
    let keys = "blocks = 1\nkernel = \"debian:6.1\"\nvcpus = \"1\"\ntarget = \"file:/tmp\"";
    let (_, told) = guests.expect(4, &["run", &guests.experiment(keys, rest)]);
    let told = told.replace('\n', " ");
    assert!(told.contains("the file system of /tmp knows none"), "{told}");
    assert!(told.contains("set direct = false") && told.contains("nothing ran"), "{told}");
}

/// How often it is looked how a device is divided: a guest that has no processor does not want all of
/// it.
const MOST_LOOKS: usize = 3;

/// Two groups that want all of a device weigh 1 and 8: bfq divides it so, none in halves.
#[test]
fn groups_get_of_a_device_what_they_weigh_where_the_elevator_looks_at_it() {
    if !has_guests() {
        return;
    }
    let mut looks = Vec::new();
    let is_seen = (0..MOST_LOOKS).any(|_| {
        let fairness = fairness();
        let of = |name: &str| fairness.iter().find(|(subject, _)| subject == name).unwrap().1;
        // Halves of shares of 1 and 8 ninths: Jain's index of 4.5 and 0.5625 is 0.623.
        let is_so = (0.58..0.67).contains(&of("none")) && of("bfq") > 0.9;
        looks.push(fairness);
        is_so
    });
    assert!(is_seen, "{looks:?}");
}

/// How fair each subject's elevator divided a device between two groups, measured by their weights.
fn fairness() -> Vec<(String, f64)> {
    let guests = Guests::new();
    let rest = "[subjects.none]\nelevator = \"none\"\n\
                [subjects.bfq]\nelevator = \"bfq\"\nelevator_param = \"low_latency=0\"\n\
                rotational = \"yes\"\nnr_requests = \"64\"\n\
                [[workloads]]\nuse = \"io_share\"\nweights = \"100,800\"\nsize = \"8M\"\n\
                duration = \"3s\"\n";
    let keys = "blocks = 1\nkernel = \"debian:6.12\"\nvcpus = \"1\"\n\
                target = \"null:64M:1ms:1\"";
    guests.expect(0, &["run", &guests.experiment(keys, rest)]);
    let records = guests.records();
    let of_subjects = records.iter().map(|record| {
        assert_eq!(record["outcome"]["kind"], "completed", "{record}");
        let samples = record["invocations"][0]["samples"].as_array().unwrap();
        let sample = samples.iter().find(|sample| sample["source"] == "fairness").unwrap();
        let subject = record["subject"].as_str().unwrap().to_owned();
        (subject, sample["values"][0].as_f64().unwrap())
    });
    of_subjects.collect()
}
