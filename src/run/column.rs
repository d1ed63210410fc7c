//! A column of numbers that takes as many bytes a value as the range of its values needs.

use std::fmt;

/// Whole numbers in a row, each as its distance from a base, in the same number of bytes: none while all are equal, up to eight.
#[derive(Clone, Default)]
pub struct Column {
    /// The values' distances from `base`, `width` bytes each, the lowest byte first.
    packed: Vec<u8>,
    /// No value is smaller.
    base: u64,
    width: usize,
    len: usize,
    /// How many values to make room for when the width changes.
    room: usize,
}

impl Column {
    /// Of these values, in no more bytes than they need.
    pub fn of(values: &[u64]) -> Self {
        let base = values.iter().min().copied().unwrap_or(0);
        let width = bytes_for(values.iter().max().map_or(0, |largest| largest - base));
        let packed = Vec::with_capacity(room_for(values.len(), width));
        let mut column = Self { packed, base, width, len: values.len(), room: values.len() };
        values.iter().for_each(|value| column.append(value - base));
        column
    }

    /// How many values there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value in this row; 0, as where nothing was recorded, behind the last row.
    #[inline]
    pub fn get(&self, row: usize) -> u64 {
        if row < self.len { self.base + self.distance(row) } else { 0 }
    }

    /// How far the value in this row is from the base.
    #[inline]
    fn distance(&self, row: usize) -> u64 {
        if self.width == 0 {
            return 0;
        }
        let rest = self.packed.get(row * self.width..).unwrap_or_default();
        // One load and a mask, but for the last few rows, behind which no eight bytes follow.
        let word = rest.first_chunk().map_or_else(|| last_word(rest), |word| u64::from_le_bytes(*word));
        word & largest_in(self.width)
    }

    /// All values in their order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + Clone {
        (0..self.len).map(|row| self.get(row))
    }

    /// Adds a value; amortised O(1), see [`Self::fit`].
    pub fn push(&mut self, value: u64) {
        if self.is_empty() {
            self.base = value;
        }
        self.fit(value);
        self.append(value - self.base);
        self.len += 1;
    }

    /// Replaces the value in this row; behind the last row there is nothing to replace.
    pub fn set(&mut self, row: usize, value: u64) {
        if row < self.len {
            self.fit(value);
            let place = self.place(row);
            self.packed[place].copy_from_slice(&(value - self.base).to_le_bytes()[..self.width]);
        }
    }

    /// Replaces every value by what `change` makes of it.
    pub fn change(&mut self, change: impl Fn(u64) -> u64) {
        let mut changed = Self { room: self.room.max(self.len), ..Self::default() };
        self.iter().for_each(|value| changed.push(change(value)));
        *self = changed;
    }

    /// Makes room for this many values more, and no more than that, also when the column widens.
    pub fn reserve(&mut self, values: usize) {
        self.room = self.len.saturating_add(values);
        self.packed.reserve_exact(room_for(values, self.width));
    }

    /// Bytes that the values take.
    pub fn bytes(&self) -> usize {
        self.packed.len()
    }

    /// Puts a distance that fits behind the others: eight bytes at once, of which those that it needs stay.
    fn append(&mut self, distance: u64) {
        let to = self.packed.len() + self.width;
        if self.width > 0 {
            self.packed.extend_from_slice(&distance.to_le_bytes());
            self.packed.truncate(to);
        }
    }

    fn place(&self, row: usize) -> std::ops::Range<usize> {
        let from = row.saturating_mul(self.width);
        from..from.saturating_add(self.width)
    }

    /// Makes `value` one that can be packed. The base moves down further than it must, by an eighth of what the width holds,
    /// so that it moves eight times at most before the width grows, and that grows eight times at most.
    fn fit(&mut self, value: u64) {
        match value.checked_sub(self.base) {
            Some(distance) if bytes_for(distance) <= self.width => {}
            Some(distance) => self.pack(self.base, bytes_for(distance)),
            None => {
                let largest = self.iter().max().unwrap_or(self.base);
                let base = value.saturating_sub(largest_in(bytes_for(largest - value)) / 8);
                self.pack(base, bytes_for(largest - base));
            }
        }
    }

    /// Packs all values anew.
    fn pack(&mut self, base: u64, width: usize) {
        let room = self.room.max(self.len + 1);
        let packed = Vec::with_capacity(room_for(room, width));
        let mut anew = Self { packed, base, width, len: self.len, room: self.room };
        self.iter().for_each(|value| anew.append(value - base));
        *self = anew;
    }
}

/// How many bytes a number takes; 0 takes none.
fn bytes_for(number: u64) -> usize {
    (u64::BITS - number.leading_zeros()).div_ceil(8) as usize
}

/// The largest number that so many bytes hold.
#[inline]
fn largest_in(bytes: usize) -> u64 {
    u64::MAX.checked_shr(u64::BITS - 8 * bytes as u32).unwrap_or(0)
}

/// Bytes of the room for so many values, with that of [`Column::append`] for the last.
fn room_for(values: usize, width: usize) -> usize {
    if width == 0 { 0 } else { values.saturating_mul(width).saturating_add(size_of::<u64>() - width) }
}

/// Fewer than eight bytes as the low ones of a number.
#[cold]
fn last_word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

impl FromIterator<u64> for Column {
    fn from_iter<I: IntoIterator<Item = u64>>(values: I) -> Self {
        Self::of(&values.into_iter().collect::<Vec<_>>())
    }
}

impl fmt::Debug for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(column: &Column) -> Vec<u64> {
        column.iter().collect()
    }

    #[test]
    fn widening_keeps_the_values() {
        let mut column = Column::default();
        let mut pushed = Vec::new();
        for (value, bytes) in [(0, 0), (0, 0), (255, 3), (256, 8), (1, 10), (1 << 32, 30), (u64::MAX, 56)] {
            column.push(value);
            pushed.push(value);
            assert_eq!(values(&column), pushed);
            assert_eq!(column.bytes(), bytes, "after {value}");
        }
        assert_eq!((column.len(), column.get(column.len()), column.get(usize::MAX)), (7, 0, 0));
    }

    #[test]
    fn zeros_take_no_bytes() {
        let zeros: Column = std::iter::repeat_n(0, 1000).collect();
        assert_eq!((zeros.len(), zeros.bytes(), zeros.is_empty()), (1000, 0, false));
        assert!(Column::default().is_empty());
    }

    #[test]
    fn only_the_range_of_the_values_takes_bytes() {
        let same: Column = std::iter::repeat_n(70_000, 1000).collect();
        assert_eq!((same.get(999), same.get(1000), same.bytes()), (70_000, 0, 0));
        let near: Column = [5_000_000, 4_999_000, 5_020_000].into_iter().collect();
        assert_eq!((values(&near), near.bytes()), (vec![5_000_000, 4_999_000, 5_020_000], 6));
    }

    #[test]
    fn falling_values_seldom_move_the_base() {
        let mut column = Column::default();
        let mut moved = 0;
        for value in (0..200_000).rev() {
            let before = column.base;
            column.push(value);
            moved += u32::from(column.base != before);
        }
        assert!(column.iter().eq((0..200_000).rev()));
        assert!(moved <= 8 * 3, "{moved} times");
    }

    #[test]
    fn all_values_are_changed() {
        let mut column: Column = [1, 0, 3].into_iter().collect();
        column.change(|value| value + 1_000_000);
        assert_eq!((values(&column), column.bytes()), (vec![1_000_001, 1_000_000, 1_000_003], 3));
    }

    #[test]
    fn a_value_is_replaced_by_a_wider_one() {
        let mut column: Column = [1, 0, 3].into_iter().collect();
        column.set(1, 70_000);
        column.set(3, 9);
        assert_eq!(values(&column), [1, 70_000, 3]);
    }

    #[test]
    fn reserved_room_is_kept_over_widening() {
        let mut column = Column::default();
        column.reserve(100);
        column.push(1);
        column.push(300);
        // Two bytes each, and six behind the last, which is put there as eight.
        assert_eq!(column.packed.capacity(), 206);
    }

    /// Values of every width.
    fn any_value() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0u32..=64).prop_map(|(value, bits)| value.checked_shr(bits).unwrap_or(0))
    }

    proptest! {
        #[test]
        fn a_column_is_a_vector(pushed in prop::collection::vec(any_value(), 0..200), at in any::<prop::sample::Index>(), new in any_value()) {
            let mut column = Column::default();
            pushed.iter().for_each(|&value| column.push(value));
            prop_assert_eq!(&values(&column), &pushed);
            let at_once = Column::of(&pushed);
            prop_assert_eq!(&values(&at_once), &pushed);
            prop_assert!(at_once.bytes() <= column.bytes());
            if !pushed.is_empty() {
                let row = at.index(pushed.len());
                let mut changed = pushed;
                changed[row] = new;
                column.set(row, new);
                prop_assert_eq!(values(&column), changed);
            }
        }
    }
}
