//! One trial on this machine: journal, knobs, launch, restore, guardian
