package dev.bourse.audit;

import java.util.List;

/**
 * A Bloom filter of the actors of a segment. It contains each actor of the segment, and about one
 * in fifty others is a false positive.
 */
final class ActorFilter {
  private static final int BITS_PER_ACTOR = 8;

  /** Few probes for this many bits, each of which reads one bit. */
  private static final int PROBES = 4;

  private final byte[] bits;

  private ActorFilter(byte[] bits) {
    this.bits = bits;
  }

  static ActorFilter of(List<TrailEntry> entries) {
    List<String> actors = entries.stream().map(TrailEntry::actor).distinct().toList();
    byte[] bits = new byte[actors.size() * BITS_PER_ACTOR / Byte.SIZE];
    for (String actor : actors) {
      for (int probe = 0; probe < PROBES; probe++) {
        int bit = bit(actor, probe, bits.length);
        bits[bit / Byte.SIZE] |= (byte) (1 << bit % Byte.SIZE);
      }
    }
    return new ActorFilter(bits);
  }

  static ActorFilter stored(byte[] bytes) {
    return new ActorFilter(bytes.clone());
  }

  byte[] bytes() {
    return bits.clone();
  }

  boolean mayHave(String actor) {
    if (bits.length == 0) {
      return true;
    }
    for (int probe = 0; probe < PROBES; probe++) {
      int bit = bit(actor, probe, bits.length);
      if ((bits[bit / Byte.SIZE] & 1 << bit % Byte.SIZE) == 0) {
        return false;
      }
    }
    return true;
  }

  /** Uses the definition of {@link String#hashCode}, so that the result never changes. */
  private static int bit(String actor, int probe, int bytes) {
    long mixed = (actor.hashCode() + probe * 0x9e3779b97f4a7c15L) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ mixed >>> 29) * 0x94d049bb133111ebL;
    return (int) Math.floorMod(mixed ^ mixed >>> 32, (long) bytes * Byte.SIZE);
  }
}
