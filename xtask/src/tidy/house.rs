//! The house as a table: which crate may see which (ARCHITECTURE.md, "Layers").

/// A crate's place.
pub struct Room {
    /// The package's name.
    pub name: &'static str,
    /// Its layer.
    pub layer: u64,
    /// What it may use beside `model`.
    pub uses: Uses,
}

/// What a crate may use of ours.
pub enum Uses {
    /// Nothing, not even `model`.
    Nothing,
    /// `model` and these.
    These(&'static [&'static str]),
    /// These, and not even `model`.
    Only(&'static [&'static str]),
    /// Everything below it.
    Below,
}

use Uses::{Below, Nothing, Only, These};

impl Uses {
    /// As a row of ARCHITECTURE.md states it.
    pub fn in_words(&self) -> String {
        match self {
            Nothing => "nothing of ours".to_owned(),
            These([]) => "model".to_owned(),
            These(names) => names.join(", "),
            Only(names) => format!("{} alone", names.join(" and ")),
            Below => "all below".to_owned(),
        }
    }
}

/// Every crate of the workspace. A crate that is not here is refused, so that
/// each one gets its place by a decision.
pub const HOUSE: &[Room] = &[
    Room { name: "model", layer: 0, uses: Nothing },
    Room { name: "draws", layer: 0, uses: Nothing },
    Room { name: "phrases", layer: 0, uses: Nothing },
    Room { name: "removal", layer: 0, uses: Nothing },
    Room { name: "stats", layer: 0, uses: Nothing },
    Room { name: "testing", layer: 0, uses: Nothing },
    Room { name: "web", layer: 0, uses: Nothing },
    Room { name: "fixtures", layer: 1, uses: These(&[]) },
    Room { name: "sys", layer: 1, uses: These(&["removal"]) },
    Room { name: "outputs", layer: 1, uses: These(&[]) },
    Room { name: "figures", layer: 1, uses: These(&["web"]) },
    Room { name: "contract", layer: 2, uses: These(&["sys"]) },
    Room { name: "artefacts", layer: 2, uses: Only(&["removal"]) },
    Room { name: "bpf", layer: 2, uses: These(&["sys"]) },
    Room { name: "wire", layer: 2, uses: These(&[]) },
    Room { name: "workload-parts", layer: 3, uses: These(&["contract", "sys"]) },
    Room { name: "build-user", layer: 3, uses: Only(&["artefacts"]) },
    Room { name: "kernels", layer: 3, uses: These(&["artefacts"]) },
    Room { name: "guest-images", layer: 3, uses: These(&["artefacts"]) },
    Room {
        name: "builds",
        layer: 4,
        uses: These(&["artefacts", "build-user", "kernels", "guest-images"]),
    },
    Room { name: "plan", layer: 4, uses: These(&["contract", "draws"]) },
    Room { name: "cpu-workloads", layer: 4, uses: These(&["contract", "sys", "workload-parts"]) },
    Room { name: "io-workloads", layer: 4, uses: These(&["contract", "sys", "workload-parts"]) },
    Room { name: "net-workloads", layer: 4, uses: These(&["contract", "sys", "workload-parts"]) },
    Room {
        name: "service-workloads",
        layer: 4,
        uses: These(&["contract", "sys", "outputs", "workload-parts"]),
    },
    Room {
        name: "tool-workloads",
        layer: 4,
        uses: These(&["contract", "sys", "outputs", "workload-parts"]),
    },
    Room { name: "tunables", layer: 4, uses: These(&["contract", "sys"]) },
    Room { name: "probes", layer: 4, uses: These(&["contract", "sys"]) },
    Room { name: "importers", layer: 4, uses: These(&["contract", "outputs"]) },
    Room { name: "studies", layer: 4, uses: These(&["contract"]) },
    Room { name: "schedulers", layer: 4, uses: These(&["contract", "sys", "bpf"]) },
    Room { name: "storage", layer: 4, uses: These(&["contract", "sys"]) },
    Room { name: "executor", layer: 4, uses: These(&["contract", "sys"]) },
    Room { name: "analysis", layer: 4, uses: These(&["contract", "stats"]) },
    Room { name: "store", layer: 4, uses: These(&["contract", "sys"]) },
    Room {
        name: "report",
        layer: 4,
        uses: These(&["contract", "stats", "phrases", "web", "figures"]),
    },
    Room {
        name: "venues",
        layer: 5,
        uses: These(&[
            "contract",
            "sys",
            "wire",
            "artefacts",
            "kernels",
            "guest-images",
            "executor",
            "draws",
        ]),
    },
    Room { name: "agent", layer: 5, uses: These(&["contract", "sys", "wire", "executor"]) },
    Room { name: "lab", layer: 5, uses: These(&["contract", "plan", "analysis", "store"]) },
    Room {
        name: "assembly",
        layer: 6,
        uses: These(&[
            "contract",
            "sys",
            "cpu-workloads",
            "io-workloads",
            "net-workloads",
            "service-workloads",
            "tool-workloads",
            "tunables",
            "probes",
            "schedulers",
            "storage",
            "executor",
            "venues",
        ]),
    },
    Room {
        name: "calibrate",
        layer: 6,
        uses: These(&["contract", "draws", "plan", "analysis", "importers", "stats", "venues"]),
    },
    Room { name: "live", layer: 6, uses: These(&["contract", "sys", "store", "lab"]) },
    Room { name: "server", layer: 7, uses: These(&["contract", "sys", "store", "live", "web"]) },
    Room { name: "schedlab", layer: 8, uses: Below },
    Room { name: "schedlab-agent", layer: 8, uses: These(&["sys", "agent", "assembly"]) },
    Room { name: "fault-sim", layer: 9, uses: Below },
    Room { name: "fuzz", layer: 9, uses: Below },
    Room { name: "fidelity", layer: 9, uses: Below },
    Room { name: "bars", layer: 9, uses: Below },
    Room { name: "proofs", layer: 9, uses: Below },
    Room { name: "manual", layer: 9, uses: Below },
    Room { name: "xtask", layer: 9, uses: Only(&["artefacts", "build-user"]) },
];

/// What only tests use, whatever the table says.
const FOR_TESTS: [&str; 2] = ["testing", "fixtures"];

/// A crate's place, where it has one.
pub fn room(name: &str) -> Option<&'static Room> {
    HOUSE.iter().find(|room| room.name == name)
}

/// Why `from` may not use `to`. What only tests use need not be in the
/// table, but still lies below.
pub fn refusal(from: &Room, to: &Room, is_for_tests: bool) -> Option<String> {
    if to.layer >= from.layer {
        return Some(format!(
            "{} (layer {}) must not use {} (layer {}): edges go to lower layers only",
            from.name, from.layer, to.name, to.layer
        ));
    }
    let is_allowed = is_for_tests
        || match from.uses {
            Nothing => false,
            Only(names) => names.contains(&to.name),
            These(names) => to.name == "model" || names.contains(&to.name),
            Below => !FOR_TESTS.contains(&to.name),
        };
    (!is_allowed).then(|| {
        format!("{} must not use {}: xtask/src/tidy/house.rs does not list it", from.name, to.name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_go_down_and_only_where_the_table_says() {
        for (from, to, is_for_tests, is_allowed) in [
            ("plan", "contract", false, true),
            ("plan", "model", false, true),
            ("plan", "sys", false, false),
            ("plan", "sys", true, true),
            ("report", "analysis", false, false),
            ("report", "analysis", true, false),
            ("sys", "contract", false, false),
            ("stats", "model", false, false),
            ("schedlab", "net-workloads", false, true),
            ("schedlab", "fixtures", false, false),
            ("schedlab", "fixtures", true, true),
            ("lab", "venues", false, false),
            ("xtask", "model", false, false),
            ("xtask", "build-user", false, true),
            ("build-user", "model", false, false),
            ("artefacts", "model", false, false),
            ("wire", "model", false, true),
        ] {
            let refusal = refusal(room(from).unwrap(), room(to).unwrap(), is_for_tests);
            assert_eq!(refusal.is_none(), is_allowed, "{from} -> {to}: {refusal:?}");
        }
    }

    #[test]
    fn what_a_crate_may_use_is_put_in_words() {
        for (uses, words) in [
            (Nothing, "nothing of ours"),
            (These(&[]), "model"),
            (These(&["contract", "sys"]), "contract, sys"),
            (Only(&["artefacts"]), "artefacts alone"),
            (Only(&["artefacts", "build-user"]), "artefacts and build-user alone"),
            (Below, "all below"),
        ] {
            assert_eq!(uses.in_words(), words);
        }
    }

    #[test]
    fn the_table_itself_only_points_down() {
        for from in HOUSE {
            let (These(names) | Only(names)) = from.uses else { continue };
            for name in names {
                assert_eq!(refusal(from, room(name).unwrap(), false), None);
            }
        }
    }
}
