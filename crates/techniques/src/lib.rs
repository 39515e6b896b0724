//! The techniques: one folder each, and the one list of them.

pub mod lazy;
pub mod partition;
pub mod rwset;

use std::sync::Arc;

use explore::{Driver, LineUp, Technique};

/// What the command line says to the techniques: each finds its own flags here.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    pub lazy: lazy::Flags,
    pub rwset: rwset::Config,
    pub partition: partition::Flags,
}

/// What is under test.
#[derive(Clone, Copy)]
pub struct Subject<'m> {
    pub module: &'m Arc<ir::Module>,
    /// The function the user named, which a harness of ours may call.
    pub entry: ir::FuncId,
}

/// What a technique brings into a line-up.
pub struct Part {
    pub technique: Box<dyn Technique>,
    /// Only one technique of a line-up may drive.
    pub driver: Option<Box<dyn Driver>>,
}

impl Part {
    /// A technique that observes and decides, and leaves driving to others.
    pub fn passive(technique: impl Technique + 'static) -> Part {
        Part { technique: Box::new(technique), driver: None }
    }
}

/// How a line-up names a technique and makes it.
pub struct Entry {
    pub name: &'static str,
    /// `Err`: what is wrong with its flags.
    pub make: fn(&Flags, Subject) -> Result<Part, String>,
    pub resume: Resume,
    pub company: Company,
}

/// Whether a technique can be one of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Company {
    Any,
    /// It cannot; what the others would get wrong.
    None(&'static str),
}

/// Where a campaign that was stopped is taken up again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resume {
    /// At the states that were pending.
    FromPending,
    /// At the beginning: what was learned on the way is not on disk. Tests that are found again stay as they are.
    FromStart,
}

/// Every technique there is.
pub const ALL: &[Entry] = &[
    Entry { name: "lazy", make: lazy::make, resume: Resume::FromStart, company: lazy::COMPANY },
    Entry { name: "partition", make: partition::make, resume: Resume::FromStart, company: Company::Any },
    Entry { name: "rwset", make: rwset::make, resume: Resume::FromPending, company: Company::Any },
];

/// The technique of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}

/// The line-up of these names, or what is wrong with it.
pub fn line_up(names: &[String], flags: &Flags, subject: Subject) -> Result<LineUp, String> {
    for entry in names.iter().filter_map(|name| find(name)) {
        if let Company::None(why) = entry.company
            && names.len() > 1
        {
            return Err(format!("`{}` cannot be combined with others: {why}", entry.name));
        }
    }
    let mut line_up = LineUp::plain();
    let mut drives: Option<&str> = None;
    let mut flags = flags.clone();
    if names.len() > 1 {
        flags.rwset.inputs = rwset::Inputs::EquallyMany;
    }
    for name in names {
        let entry = find(name).ok_or_else(|| format!("there is no technique `{name}`"))?;
        let part = (entry.make)(&flags, subject)?;
        line_up.techniques.push(part.technique);
        if let Some(driver) = part.driver {
            if let Some(other) = drives.replace(entry.name) {
                return Err(format!("`{other}` and `{name}` both decide what is explored when; leave one of them out"));
            }
            line_up.driver = driver;
        }
    }
    Ok(line_up)
}
