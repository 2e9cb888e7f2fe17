package dev.bourse.checkpoint;

import static dev.bourse.checkpoint.CheckpointSamples.T0;
import static dev.bourse.checkpoint.CheckpointSamples.draft;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiException;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Invariants of an item over random transitions. */
@Tag("fast")
class CheckpointWalkTest {
  private static final int WALKS = 400;
  private static final int STEPS = 60;

  private final Set<String> blobs = new HashSet<>();
  private final Set<String> deleted = new HashSet<>();
  private long taken;
  private int highest;

  @Test
  void storageBytesAndRevisionsAddUp() {
    for (long seed = 0; seed < WALKS; seed++) {
      try {
        walk(new Random(seed));
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  private void walk(Random random) {
    blobs.clear();
    deleted.clear();
    taken = 0;
    highest = 1;
    Visibility visibility = random.nextBoolean() ? Visibility.ORG : Visibility.PUBLIC;
    Optional<Checkpoint> item = Optional.of(CheckpointSamples.item(visibility));
    follow(new ChangeSet(Optional.empty(), item));
    for (int i = 0; i < STEPS && item.isPresent(); i++) {
      Optional<Checkpoint> after;
      try {
        after = step(item.get(), random);
      } catch (ApiException refused) {
        continue;
      }
      if (after.equals(item)) {
        continue;
      }
      check(item.get(), after);
      follow(new ChangeSet(item, after));
      item = after;
    }
    if (item.isPresent()) {
      follow(new ChangeSet(item, Optional.empty()));
    }
    assertEquals(0, taken, "all storage is returned with the item");
    assertEquals(blobs, deleted, "all bytes are deleted with the item");
  }

  private Optional<Checkpoint> step(Checkpoint item, Random random) {
    long now = T0 + random.nextInt(1_000);
    String review = "rev_" + (item.head() == null ? 0 : item.head().number());
    return switch (random.nextInt(9)) {
      case 0, 1 -> Optional.of(item.redrafted(draft(item.lastRevision() + 1)));
      case 2, 3 -> {
        String sha256 = digest(item, random);
        Checkpoint landed =
            item.published(
                item.lastRevision(), sha256, "rev_" + item.lastRevision(), List.of(), now);
        blobs.add(BlobName.key(item.id(), item.lastRevision(), sha256));
        yield Optional.of(landed);
      }
      case 4 -> {
        String sha256 = String.format("%064x", random.nextInt(3));
        Checkpoint arrived = item.arrived(item.lastRevision(), sha256, List.of(), now);
        blobs.add(BlobName.key(item.id(), item.lastRevision(), sha256));
        yield Optional.of(arrived);
      }
      case 5 -> Optional.of(item.approved(review, now));
      case 6 -> Optional.of(item.rejected(review, "no"));
      case 7 ->
          item.draft() == null || item.draft().state() == Revision.State.EXPIRED
              ? Optional.of(item)
              : Optional.of(item.expired());
      default -> item.draft() == null ? Optional.of(item) : item.withoutDraft();
    };
  }

  /** Returns the recorded digest if there is one, because bytes are published under it. */
  private static String digest(Checkpoint item, Random random) {
    String told = item.draft() == null ? null : item.draft().sha256();
    return told == null ? String.format("%064x", random.nextInt(3)) : told;
  }

  private void check(Checkpoint before, Optional<Checkpoint> after) {
    if (after.isEmpty()) {
      return;
    }
    Checkpoint item = after.get();
    assertEquals(before.version() + 1, item.version());
    assertTrue(item.lastRevision() >= highest, "no number comes again");
    highest = item.lastRevision();
    if (before.live() != null) {
      assertNotNull(item.live(), "a live revision stays live or is replaced by a live one");
    }
    if (item.live() != null) {
      assertEquals(Revision.State.READY, item.live().state());
      assertNotNull(item.live().sha256());
    }
    if (item.head() != null) {
      assertNotNull(item.head().sha256());
    }
    if (item.visibility() == Visibility.ORG) {
      assertEquals(item.head(), item.live());
    }
  }

  private void follow(ChangeSet move) {
    taken += move.bytesTaken();
    assertEquals(move.after().map(Checkpoint::heldBytes).orElse(0L), taken);
    for (String key : move.obsoleteBlobs()) {
      deleted.add(key);
    }
    for (Revision revision : move.after().map(Checkpoint::revisions).orElse(List.of())) {
      if (revision.sha256() != null) {
        String key =
            BlobName.key(
                move.item().id(), revision.number(), Objects.requireNonNull(revision.sha256()));
        assertTrue(!move.obsoleteBlobs().contains(key), "what is kept is not deleted");
        // Named again after it was obsolete: it is written again.
        deleted.remove(key);
      }
    }
  }
}
