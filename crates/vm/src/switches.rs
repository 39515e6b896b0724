//! Which faults are looked for, and which kinds of findings that makes.

use witness::BugKind;

/// One switch a check. Memory, assertions and division end a path whatever is asked for, because nobody can say what the
/// program does behind such a fault; switched off, the path is no finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    pub memory: bool,
    pub assertion: bool,
    pub division: bool,
    pub overflow: bool,
    pub shift: bool,
    pub uninit: bool,
    pub leak: bool,
    /// What is still reachable at the end counts as leaked, too.
    pub leak_all: bool,
    /// Pointers that leave their object by more than one, and arithmetic that wraps around.
    pub pointer: bool,
    /// `memcpy` and its relatives between ranges that overlap.
    pub overlap: bool,
    /// The ones that clang puts into the code itself.
    pub built_in: BuiltIn,
}

/// Checks that are branches of the program: clang adds them when it compiles C.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BuiltIn {
    pub alignment: bool,
    pub boolean: bool,
    pub builtin: bool,
    pub float: bool,
    pub nonnull: bool,
    pub conversion: bool,
    /// Indices that leave their array and stay inside of the object it is a part of.
    pub bounds: bool,
}

impl Default for Checks {
    fn default() -> Self {
        Checks { memory: true, assertion: true, division: true, uninit: true, ..Checks::NONE }
    }
}

impl Checks {
    pub const NONE: Checks = Checks {
        memory: false,
        assertion: false,
        division: false,
        overflow: false,
        shift: false,
        uninit: false,
        leak: false,
        leak_all: false,
        pointer: false,
        overlap: false,
        built_in: BuiltIn {
            alignment: false,
            boolean: false,
            builtin: false,
            float: false,
            nonnull: false,
            conversion: false,
            bounds: false,
        },
    };

    /// What only clang can look for, by its names: it adds branches when it compiles C.
    pub fn of_clang(&self) -> Vec<&'static str> {
        let mut names = self.built_in.sanitizers();
        if self.shift {
            // By how far is told by the instruction. Whether a number with a sign is shifted only clang knows.
            names.push("shift-base");
        }
        names
    }

    /// Whether leaks of any sort are looked for.
    pub fn any_leak(&self) -> bool {
        self.leak || self.leak_all
    }

    /// Whether a fault of this kind is a finding.
    pub fn reports(&self, kind: BugKind) -> bool {
        match kind {
            BugKind::OutOfBoundsRead | BugKind::OutOfBoundsWrite => self.memory || self.built_in.bounds,
            BugKind::UseAfterFree
            | BugKind::DoubleFree
            | BugKind::InvalidFree
            | BugKind::NullDereference
            | BugKind::InvalidPointer
            | BugKind::StackOverflow => self.memory,
            BugKind::AssertionFailure | BugKind::Abort | BugKind::UnreachableReached => self.assertion,
            BugKind::DivisionByZero => self.division,
            // The most negative number divided by -1 belongs to both.
            BugKind::IntegerOverflow => self.overflow || self.division,
            BugKind::InvalidShift
            | BugKind::UninitialisedRead
            | BugKind::MemoryLeak
            | BugKind::NonTermination
            | BugKind::MisalignedAccess
            | BugKind::PointerOverflow
            | BugKind::InvalidValue
            | BugKind::InvalidArgument
            | BugKind::InvalidConversion
            | BugKind::LossyConversion
            | BugKind::OverlappingCopy => true,
        }
    }
}

impl BuiltIn {
    /// What clang calls them.
    fn sanitizers(&self) -> Vec<&'static str> {
        let rows: [(bool, &[&str]); 7] = [
            (self.alignment, &["alignment"]),
            (self.boolean, &["bool"]),
            (self.builtin, &["builtin", "vla-bound"]),
            (self.float, &["float-cast-overflow", "float-divide-by-zero"]),
            (self.nonnull, &["nonnull-attribute", "returns-nonnull-attribute"]),
            (self.conversion, &["implicit-conversion"]),
            (self.bounds, &["array-bounds"]),
        ];
        rows.iter().filter(|row| row.0).flat_map(|row| row.1.iter().copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_off_is_no_finding() {
        let only_division = Checks { division: true, uninit: true, ..Checks::NONE };
        assert!(only_division.reports(BugKind::DivisionByZero));
        assert!(!only_division.reports(BugKind::OutOfBoundsRead) && !only_division.reports(BugKind::AssertionFailure));
        let only_memory = Checks { memory: true, ..Checks::NONE };
        assert!(only_memory.reports(BugKind::DoubleFree) && !only_memory.reports(BugKind::DivisionByZero));
        let only_bounds = Checks { built_in: BuiltIn { bounds: true, ..BuiltIn::default() }, ..Checks::NONE };
        assert!(only_bounds.reports(BugKind::OutOfBoundsWrite) && !only_bounds.reports(BugKind::UseAfterFree));
    }
}
