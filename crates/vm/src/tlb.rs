//! The last plain object seen at each access site, so that a bounds check is one compare.
//!
//! An entry holds a raw pointer to an object's bytes. It stays right as long as the state it came from keeps that object
//! alive, unshared (for writing) and plain. Whatever may end that calls [`Tlb::flush`]. So does the start of every `run`,
//! because states are cloned only between runs. Besides native code, which reads the same entries, this is the one place in
//! the machine with raw pointers to memory.

use crate::footprint::{READ, WRITTEN};

const N_ENTRIES: usize = 256;

/// Laid out as native code reads it.
#[derive(Clone, Copy)]
#[repr(C)]
struct Entry {
    base: u64,
    /// Exclusive end.
    end: u64,
    data: *mut u8,
    epoch: u32,
    /// As `epoch` where the object may be written, else 0.
    write_epoch: u32,
}

/// Where native code finds the fields of an entry.
pub struct EntryLayout {
    pub base: usize,
    pub end: usize,
    pub data: usize,
    pub epoch: usize,
    pub write_epoch: usize,
}

pub struct Tlb {
    entries: Box<[Entry; N_ENTRIES]>,
    /// Where the footprint of each entry's object is kept; beside the entries, because most runs keep none.
    flags: Box<[*mut u8; N_ENTRIES]>,
    epoch: u32,
    is_frozen: bool,
}

impl Default for Tlb {
    fn default() -> Self {
        let none = Entry { base: 0, end: 0, data: std::ptr::null_mut(), epoch: 0, write_epoch: 0 };
        let flags = Box::new([std::ptr::null_mut(); N_ENTRIES]);
        Tlb { entries: Box::new([none; N_ENTRIES]), flags, epoch: 1, is_frozen: false }
    }
}

/// Which site accesses: any number that is stable per instruction.
#[inline(always)]
pub fn site_of<T>(inst: &T) -> usize {
    (std::ptr::from_ref(inst) as usize >> 4) % N_ENTRIES
}

impl Tlb {
    pub const LAYOUT: EntryLayout = EntryLayout {
        base: std::mem::offset_of!(Entry, base),
        end: std::mem::offset_of!(Entry, end),
        data: std::mem::offset_of!(Entry, data),
        epoch: std::mem::offset_of!(Entry, epoch),
        write_epoch: std::mem::offset_of!(Entry, write_epoch),
    };

    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The entry of a site never moves.
    pub fn entry_addr(&self, site: usize) -> usize {
        &raw const self.entries[site] as usize
    }

    #[inline(always)]
    pub fn flush(&mut self) {
        self.epoch += 1;
        if self.epoch == u32::MAX {
            for entry in self.entries.iter_mut() {
                (entry.epoch, entry.write_epoch) = (0, 0);
            }
            self.epoch = 1;
        }
    }

    pub fn is_frozen(&self) -> bool {
        self.is_frozen
    }

    /// While frozen, nothing is written through an entry: whoever freezes sees to it that none is remembered for that.
    pub fn set_frozen(&mut self, is_frozen: bool) {
        if is_frozen && !self.is_frozen {
            self.flush();
        }
        self.is_frozen = is_frozen;
    }

    /// The little-endian bytes at `addr`, zero-extended, if the site's last object covers them. `bytes` is 1, 2, 4 or 8.
    #[inline(always)]
    pub fn read(&self, site: usize, addr: u64, bytes: u64) -> Option<u64> {
        let entry = &self.entries[site];
        if entry.epoch != self.epoch || addr < entry.base || addr.wrapping_add(bytes) > entry.end || bytes > entry.end {
            return None;
        }
        // SAFETY: the epoch is current, so `data` points to the live bytes `base..end` of an object of the running
        // state, and `addr..addr+bytes` was just checked to lie inside (an overflowing sum is below `addr` >= base only
        // for addresses in the last 8 bytes of the address space, where no object lies).
        unsafe {
            let at = entry.data.add((addr - entry.base) as usize);
            Some(match bytes {
                1 => u64::from(at.read()),
                2 => u64::from(at.cast::<u16>().read_unaligned()),
                4 => u64::from(at.cast::<u32>().read_unaligned()),
                _ => at.cast::<u64>().read_unaligned(),
            })
        }
    }

    /// Writes the low `bytes` of `value`; `false` if the site's last object does not cover them or is not ours to write.
    #[inline(always)]
    pub fn write(&mut self, site: usize, addr: u64, bytes: u64, value: u64) -> bool {
        let entry = &self.entries[site];
        if entry.write_epoch != self.epoch || addr < entry.base || addr.wrapping_add(bytes) > entry.end {
            return false;
        }
        // SAFETY: as in `read`; `write_epoch` says the object is unshared and no other reference to its bytes exists while
        // the machine runs.
        unsafe {
            let at = entry.data.add((addr - entry.base) as usize);
            match bytes {
                1 => at.write(value as u8),
                2 => at.cast::<u16>().write_unaligned(value as u16),
                4 => at.cast::<u32>().write_unaligned(value as u32),
                _ => at.cast::<u64>().write_unaligned(value),
            }
        }
        true
    }

    /// Where the footprint of the object just remembered for a site is kept: as many flags as it has bytes, and eight.
    pub fn remember_flags(&mut self, site: usize, flags: &mut [u8]) {
        self.flags[site] = flags.as_mut_ptr();
    }

    /// Notes a read that `read` just did at this site.
    #[inline(always)]
    pub fn trace_read(&mut self, site: usize, addr: u64, bytes: u64) {
        self.trace(site, addr, |flags| flags | !(flags >> 1) & READ & (u64::MAX >> (64 - 8 * bytes)));
    }

    /// Notes a write that `write` just did at this site.
    #[inline(always)]
    pub fn trace_write(&mut self, site: usize, addr: u64, bytes: u64) {
        self.trace(site, addr, |flags| flags | WRITTEN & (u64::MAX >> (64 - 8 * bytes)));
    }

    #[inline(always)]
    fn trace(&mut self, site: usize, addr: u64, change: impl FnOnce(u64) -> u64) {
        // SAFETY: the access was just found inside the site's entry, whose flags were set with it; they are eight longer
        // than the object, and live as long as the entry: the footprint is taken only between runs, and every run
        // begins with a flush.
        unsafe {
            let at = self.flags[site].add((addr - self.entries[site].base) as usize).cast::<u64>();
            at.write_unaligned(change(at.read_unaligned()));
        }
    }

    /// Forgets what was remembered of a range of addresses.
    pub fn forget(&mut self, range: std::ops::Range<u64>) {
        for entry in self.entries.iter_mut().filter(|entry| entry.base < range.end && range.start < entry.end) {
            (entry.epoch, entry.write_epoch) = (0, 0);
        }
    }

    /// Remembers a plain, live object for reading.
    pub fn remember_read(&mut self, site: usize, base: u64, data: &[u8]) {
        let entry = Entry {
            base,
            end: base + data.len() as u64,
            data: data.as_ptr().cast_mut(),
            epoch: self.epoch,
            write_epoch: 0,
        };
        self.entries[site] = entry;
    }

    /// Remembers a plain, live, unshared object for reading and writing.
    pub fn remember_write(&mut self, site: usize, base: u64, data: &mut [u8]) {
        let (end, epoch) = (base + data.len() as u64, self.epoch);
        self.entries[site] = Entry { base, end, data: data.as_mut_ptr(), epoch, write_epoch: epoch };
    }
}
