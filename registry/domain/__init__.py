"""The pure middle: the words of the field as frozen records, and the small functions over them. No I/O, no clock."""
