//! Findings that earlier versions stored, with what these told in another way.

use crate::{
    Caveat, CaveatCheck, CaveatCode, FINDINGS_BEFORE_OBSTACLES, FINDINGS_WITH_CHECKS, Finding,
    Findings, Obstacle, Verdict,
};

impl Findings {
    /// Findings of a format before the eighth, in which an effect without p that varies was one of
    /// a confidence sequence.
    #[must_use]
    pub fn with_sequences(mut self) -> Self {
        let of_cases = self.use_cases.iter_mut().flat_map(|case| case.comparisons.iter_mut());
        let effects =
            self.findings.iter_mut().chain(of_cases).filter_map(|one| one.effect.as_mut());
        for effect in effects {
            effect.is_sequence = effect.p_difference.is_none() && !effect.does_not_vary();
        }
        self
    }

    /// Findings that were stored, with what an earlier version told by caveats alone: readers look
    /// at obstacles and flags, never at caveats.
    #[must_use]
    pub fn with_facts_of_caveats(mut self) -> Self {
        if FINDINGS_BEFORE_OBSTACLES.contains(&self.format.as_str()) {
            self.take_obstacles_of_caveats();
        }
        if !FINDINGS_WITH_CHECKS.contains(&self.format.as_str()) {
            self.take_checks_of_caveats();
        }
        // All are optional in every format: where they are absent, an earlier version may have
        // written the caveat alone.
        self.is_unfinished |= has(&self.caveats, CaveatCode::Unfinished);
        self.is_evidence_changed |= has(&self.caveats, CaveatCode::EvidenceChanged);
        for trend in &mut self.trends {
            trend.is_emulated |= has(&trend.caveats, CaveatCode::Tcg);
        }
        self
    }

    /// What speaks against which check, of findings of a format before the sixteenth.
    fn take_checks_of_caveats(&mut self) {
        self.against.extend(CaveatCheck::of(&self.caveats));
        let of_cases = self.use_cases.iter_mut().flat_map(|case| case.comparisons.iter_mut());
        for finding in self.findings.iter_mut().chain(of_cases) {
            finding.against.extend(CaveatCheck::of(&finding.caveats));
        }
    }

    /// Obstacles and flags of findings of a format before the sixth.
    fn take_obstacles_of_caveats(&mut self) {
        let of_cases = self.use_cases.iter_mut().flat_map(|case| case.comparisons.iter_mut());
        for finding in self.findings.iter_mut().chain(of_cases) {
            let has = |code| has(&finding.caveats, code);
            finding.is_odds = has(CaveatCode::OddsRatio);
            finding.is_emulated = has(CaveatCode::Tcg);
            finding.obstacle = obstacle_of_caveats(finding);
        }
    }
}

fn has(caveats: &[Caveat], code: CaveatCode) -> bool {
    caveats.iter().any(|caveat| caveat.code == code)
}

/// The obstacle that an earlier format's caveats stand for.
fn obstacle_of_caveats(finding: &Finding) -> Option<Obstacle> {
    let has = |code| has(&finding.caveats, code);
    match finding.verdict {
        Verdict::Invalid if has(CaveatCode::ObserverCost) => {
            return Some(Obstacle::ObservedLatency);
        }
        Verdict::Invalid => return Some(Obstacle::NoValidBlock),
        Verdict::Inconclusive => {}
        Verdict::Better | Verdict::Worse | Verdict::Equivalent => return None,
    }
    let is_unblocked = has(CaveatCode::UnblockedDesign);
    let drifted_in_order = has(CaveatCode::Drift) && has(CaveatCode::OrderConfounded);
    let together = [
        (is_unblocked && has(CaveatCode::AbsentValues)).then_some(Obstacle::UnequalMixes),
        drifted_in_order.then_some(Obstacle::DriftInOrder),
    ];
    let alone = finding.caveats.iter().map(|caveat| caveat.code.obstacle());
    alone.chain(together).flatten().min()
}
