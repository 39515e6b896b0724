//! lcov's tracefile, from the coverage that replay measured.

use std::fmt::Write;

use super::ExportFile;
use crate::CoverageView;

pub fn lcov(coverage: &CoverageView) -> ExportFile {
    let mut text = String::new();
    // Writing to a String cannot fail.
    for (file, lines) in &coverage.lines {
        let _ = writeln!(text, "TN:colt\nSF:{file}");
        for (line, count) in lines {
            let _ = writeln!(text, "DA:{line},{count}");
        }
        let n_hit = lines.iter().filter(|(_, count)| *count > 0).count();
        let branches = coverage.branches.get(file).map_or(&[][..], Vec::as_slice);
        for (branch_idx, (line, _, when_true, when_false)) in branches.iter().enumerate() {
            let _ = writeln!(text, "BRDA:{line},0,{},{when_true}", 2 * branch_idx);
            let _ = writeln!(text, "BRDA:{line},0,{},{when_false}", 2 * branch_idx + 1);
        }
        let n_branches_hit: usize = branches.iter().map(|(_, _, t, f)| usize::from(*t > 0) + usize::from(*f > 0)).sum();
        let _ = writeln!(text, "BRF:{}\nBRH:{n_branches_hit}", 2 * branches.len());
        let _ = writeln!(text, "LF:{}\nLH:{n_hit}\nend_of_record", lines.len());
    }
    ExportFile::text("coverage.info", text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records() {
        let mut coverage = CoverageView::default();
        coverage.lines.insert("f.c".into(), vec![(1, 2), (3, 0)]);
        coverage.branches.insert("f.c".into(), vec![(1, 7, 2, 0)]);
        let text = String::from_utf8(lcov(&coverage).bytes).expect("UTF-8");
        assert_eq!(
            text,
            "TN:colt\nSF:f.c\nDA:1,2\nDA:3,0\nBRDA:1,0,0,2\nBRDA:1,0,1,0\nBRF:2\nBRH:1\nLF:2\nLH:1\nend_of_record\n"
        );
    }
}
