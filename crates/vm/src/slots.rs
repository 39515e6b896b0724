//! Slots: room for what techniques keep with a campaign, a state, a frame or an object. Cloned on fork by sharing.

use std::any::Any;
use std::rc::Rc;

/// Which technique's slot; given out when the line-up is put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlotId(pub u8);

type Slot = Option<Rc<dyn Any>>;

/// Empty slots cost one word.
#[derive(Clone, Default)]
pub struct Slots {
    #[expect(clippy::box_collection, reason = "one word where there are none")]
    values: Option<Box<Vec<Slot>>>,
}

impl Slots {
    pub fn get<T: 'static>(&self, slot: SlotId) -> Option<&T> {
        self.values.as_ref()?.get(slot.0 as usize)?.as_ref()?.downcast_ref()
    }

    pub fn set<T: 'static>(&mut self, slot: SlotId, value: T) {
        let values = self.values.get_or_insert_default();
        if values.len() <= slot.0 as usize {
            values.resize(slot.0 as usize + 1, None);
        }
        values[slot.0 as usize] = Some(Rc::new(value));
    }

    /// The slot's value for writing; made with `Default` when empty, copied first when another state shares it.
    pub fn get_mut<T: Clone + Default + 'static>(&mut self, slot: SlotId) -> &mut T {
        let fresh = match self.get::<T>(slot) {
            None => Some(T::default()),
            Some(value) if self.is_shared(slot) => Some(value.clone()),
            Some(_) => None,
        };
        if let Some(value) = fresh {
            self.set(slot, value);
        }
        let value = self.values.as_mut().and_then(|values| values[slot.0 as usize].as_mut());
        value.and_then(Rc::get_mut).and_then(|any| any.downcast_mut()).expect("the slot was just made unshared")
    }

    fn is_shared(&self, slot: SlotId) -> bool {
        let value = self.values.as_ref().and_then(|values| values.get(slot.0 as usize)?.as_ref());
        value.is_some_and(|value| Rc::strong_count(value) > 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fork_does_not_see_later_writes() {
        let slot = SlotId(2);
        let mut one = Slots::default();
        one.get_mut::<Vec<u32>>(slot).push(1);
        let mut two = one.clone();
        two.get_mut::<Vec<u32>>(slot).push(2);
        assert_eq!(one.get::<Vec<u32>>(slot), Some(&vec![1]));
        assert_eq!(two.get::<Vec<u32>>(slot), Some(&vec![1, 2]));
        assert_eq!(two.get::<Vec<u32>>(SlotId(0)), None);
    }
}
