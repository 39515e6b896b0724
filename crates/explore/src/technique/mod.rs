//! How a technique plugs in. It says what kind it is by the interests it has, and implements those and nothing else.
//!
//! | interest | trait | what it is about |
//! |---|---|---|
//! | `events` | [`Events`] | what the machine does, as it does it |
//! | `endings` | [`Endings`] | paths that ended |
//! | `points` | [`Points`] | the tree of points: what was read and written between them, and when everything below one is over |
//! | `flows` | [`Flows`] | which inputs a value depends on |
//! | `foresight` | [`Foresight`] | endings that are known before a path comes to them |
//! | `seats` | [`Seats`] | decisions, each with a fixed rule for combining |
//!
//! What it finds, it hands over as [`Discovery`]; what it has to tell in the end is its [`Report`].

mod events;
mod flows;
mod foresight;
mod own;
mod points;
mod seats;

use std::sync::Arc;

pub use events::{Endings, Events, Looks, Told};
pub use flows::Flows;
pub use foresight::{Asking, Foreseen, Foresight};
pub use own::{Discovery, Report, TextFile};
pub use points::{First, Means, Point, Points, Settlement, Under, Unwatched, Watch, Work};
pub use seats::{Admission, CallChoice, MoreTrials, Seats, Trial, Tried};

/// A technique has the interests of which it returns itself, or a part of itself.
pub trait Technique {
    /// Folder, flag and doc section share this spelling.
    fn name(&self) -> &'static str;

    fn events(&mut self) -> Option<&mut dyn Events> {
        None
    }

    fn endings(&mut self) -> Option<&mut dyn Endings> {
        None
    }

    fn points(&mut self) -> Option<&mut dyn Points> {
        None
    }

    fn flows(&mut self) -> Option<&mut dyn Flows> {
        None
    }

    fn foresight(&mut self) -> Option<&mut dyn Foresight> {
        None
    }

    fn seats(&mut self) -> Option<&mut dyn Seats> {
        None
    }

    /// A run starts: the points of earlier ones have nothing to do with it.
    fn run_begins(&mut self) {}

    /// What it found since it was last asked. Asked whenever a path has ended or had its turn.
    fn discoveries(&mut self) -> Vec<Discovery> {
        Vec::new()
    }

    /// What it has to tell in the end.
    fn report(&mut self) -> Report {
        Report::default()
    }

    /// How to make another of these for another worker; `None` where one worker has to see everything. What the others
    /// have to tell in the end is told by the `report` of the one they were made by.
    fn for_workers(&self) -> Option<Maker> {
        None
    }
}

pub type Maker = Arc<dyn Fn() -> Box<dyn Technique> + Send + Sync>;
