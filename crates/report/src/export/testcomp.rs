//! Test-Comp's XML exchange form: a metadata file and one file a test, values in the order the program asks for them.

use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};
use witness::InputValue;

use super::ExportFile;
use crate::Case;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    Bits32,
    Bits64,
}

pub struct TestCompProgram<'a> {
    pub file: &'a str,
    pub contents: &'a [u8],
    pub entry: &'a str,
    pub machine: Machine,
    pub created: SystemTime,
}

pub fn testcomp(cases: &[Case], program: &TestCompProgram) -> Vec<ExportFile> {
    let mut files = vec![ExportFile::text("metadata.xml", metadata(program))];
    files.extend(cases.iter().map(|case| ExportFile::text(format!("testcase-{}.xml", case.id), testcase(case))));
    files
}

const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n";

fn doctype(root: &str) -> String {
    format!(
        "<!DOCTYPE {root} PUBLIC \"+//IDN sosy-lab.org//DTD test-format {root} 1.1//EN\" \
         \"https://sosy-lab.org/test-format/{root}-1.1.dtd\">\n"
    )
}

fn metadata(program: &TestCompProgram) -> String {
    let architecture = match program.machine {
        Machine::Bits32 => "32bit",
        Machine::Bits64 => "64bit",
    };
    let hash: String = Sha256::digest(program.contents).iter().map(|byte| format!("{byte:02x}")).collect();
    let fields = [
        ("sourcecodelang", "C".to_string()),
        ("producer", format!("colt {}", env!("CARGO_PKG_VERSION"))),
        ("specification", "COVER( init(main()), FQL(COVER EDGES(@DECISIONEDGE)) )".to_string()),
        ("programfile", escape(program.file)),
        ("programhash", hash),
        ("entryfunction", escape(program.entry)),
        ("architecture", architecture.to_string()),
        ("creationtime", timestamp(program.created)),
    ];
    let mut text = format!("{DECLARATION}{}<test-metadata>\n", doctype("test-metadata"));
    for (name, value) in fields {
        let _ = writeln!(text, "  <{name}>{value}</{name}>");
    }
    text.push_str("</test-metadata>\n");
    text
}

fn testcase(case: &Case) -> String {
    let mut text = format!("{DECLARATION}{}<testcase>\n", doctype("testcase"));
    for input in case.inputs.iter().filter(|input| !input.is_returned()) {
        let _ = writeln!(
            text,
            "  <input variable=\"{}\" type=\"{}\">{}</input>",
            escape(&input.name),
            escape(&input.ty),
            value(input)
        );
    }
    text.push_str("</testcase>\n");
    text
}

/// Numbers in decimal where they fit a C integer, otherwise the bytes in hexadecimal.
fn value(input: &InputValue) -> String {
    let n_bytes = input.bytes.len();
    if n_bytes == 0 || n_bytes > 16 || input.ty.contains('[') || input.ty.starts_with("struct") {
        return input.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    }
    let bits = input.bytes.iter().rev().fold(0u128, |value, byte| value << 8 | u128::from(*byte));
    match &*input.ty {
        "float" if n_bytes == 4 => f32::from_bits(bits as u32).to_string(),
        "double" if n_bytes == 8 => f64::from_bits(bits as u64).to_string(),
        ty if ty.starts_with('u') || ty == "_Bool" || ty == "size_t" => bits.to_string(),
        _ => {
            let shift = 128 - 8 * n_bytes as u32;
            ((bits << shift) as i128 >> shift).to_string()
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// UTC in ISO 8601. Days to a date by counting 400-year eras from 1 March of year 0, where leap days end each year.
fn timestamp(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs());
    let days = seconds / 86_400 + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let of_day = seconds % 86_400;
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", of_day / 3600, of_day / 60 % 60, of_day % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Expected;
    use std::time::Duration;

    #[test]
    fn dates() {
        let at = |seconds| timestamp(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_709_251_199), "2024-02-29T23:59:59Z");
        assert_eq!(at(1_735_689_600), "2025-01-01T00:00:00Z");
    }

    #[test]
    fn values_and_metadata() {
        let input = |ty: &str, bytes: &[u8]| InputValue::new("n<", ty, bytes.to_vec());
        let case = Case {
            id: "000001".into(),
            inputs: vec![input("int", &[0xff; 4]), input("unsigned int", &[0xff; 4]), input("char[2]", &[1, 2])],
            expected: Expected::Assumed,
            path: vec![],
        };
        let program = TestCompProgram {
            file: "f.c",
            contents: b"abc",
            entry: "main",
            machine: Machine::Bits64,
            created: UNIX_EPOCH,
        };
        let files = testcomp(&[case], &program);
        let text = |idx: usize| String::from_utf8(files[idx].bytes.clone()).expect("UTF-8");
        assert!(text(0).contains("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
        assert!(text(0).contains("<architecture>64bit</architecture>"));
        assert!(text(1).contains("<input variable=\"n&lt;\" type=\"int\">-1</input>"));
        assert!(text(1).contains("type=\"unsigned int\">4294967295</input>"));
        assert!(text(1).contains("type=\"char[2]\">0102</input>"));
    }
}
