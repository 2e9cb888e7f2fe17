package dev.bourse.checkpoint;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.store.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Files left by deleted sets, and those that other sets still use. */
class SetSweepTest extends SetFixture {
  private static final byte[] SHARED = bytes(3_000, 1);
  private static final byte[] OWN = bytes(2_000, 2);
  private static final byte[] OTHER = bytes(1_000, 3);

  private List<String> stored() throws Exception {
    return texts("SELECT sha256 FROM checkpoint_blob ORDER BY bytes");
  }

  @Test
  void aFileIsKeptUntilTheLastSetThatHoldsItIsGone() throws Exception {
    String first = publish("first", SHARED, OWN);
    String second = publish("second", SHARED, OTHER);
    await(process().checkpoints.delete(member("alice"), first));
    sweep();
    assertEquals(List.of(sha256(OTHER), sha256(SHARED)), stored());
    assertEquals(3, names(true).size(), "two files and a manifest");
    await(process().checkpoints.delete(member("alice"), second));
    sweep();
    nothingIsLeft();
  }

  @Test
  void aFileThatIsFoundLostIsSentAgain() throws Exception {
    String id = publish("one", SHARED, OWN);
    await(
        database.commit(
            List.of(
                Statement.of(
                    """
                    INSERT INTO scrub_fault \
                    (blob_key, item_id, revision, kind, detail, found_at, checked_at) \
                    SELECT blob_key, ?, 1, 'missing', '', 1, 1 FROM checkpoint_blob \
                    WHERE sha256 = ?\
                    """,
                    id,
                    sha256(OWN)))));
    assertEquals(List.of(1), announce("one", SHARED, OWN).missing());
  }

  @Test
  void aReplacedSetKeepsWhatItsSuccessorHas() throws Exception {
    String id = publish("one", SHARED, OWN);
    assertEquals(id, publish("one", SHARED, OTHER));
    sweep();
    assertEquals(List.of(sha256(OTHER), sha256(SHARED)), stored());
    assertEquals(SHARED.length + OTHER.length, accountedBytes());
  }

  @Test
  void aSetWhoseFilesDidNotComeInTimeLeavesNothing() throws Exception {
    CheckpointService.AnnouncedSet set = announce("late", SHARED, OWN, OTHER);
    await(put(set, 0, SHARED));
    await(put(process(), set, 1, OWN, 0, 1_000));
    clock.advance(CONFIG.sessionMillis());
    await(process().uploads.closeIdle());
    sweep();
    clock.advance(2 * CONFIG.sessionMillis());
    sweep();
    nothingIsLeft();
  }

  @Test
  void aSetWhoseMemberMayNotPublishAnyMoreIsTakenBack() throws Exception {
    CheckpointService.AnnouncedSet set = announce("withdrawn", SHARED, OWN);
    await(put(set, 0, SHARED));
    decide(
        Statement.of(
            "UPDATE member SET suspended_at = ? WHERE username = 'alice'", clock.millis()));
    sweep();
    nothingIsLeft();
  }

  @Test
  void theSetsOfARetiredOrganizationAreDeleted() throws Exception {
    publish("one", SHARED, OWN);
    announce("two", SHARED, OTHER);
    decide(Statement.of("UPDATE org SET retired_at = ? WHERE org_id = 'lab'", clock.millis()));
    sweep();
    nothingIsLeft();
  }

  @Test
  void whatADeadProcessHasStoredOfAnAwaitedSetIsKeptAndGoesWithIt() throws Exception {
    CheckpointService.AnnouncedSet set = announce("dead", SHARED, OWN);
    failNextCommits(1);
    fails(RuntimeException.class, put(set, 0, SHARED));
    assertEquals(1, names(true).size(), "it is stored without a row");
    sweep();
    assertEquals(1, names(true).size());
    assertTrue(await(ask(process(), set, 0)).isComplete(), "it is not sent again");
    await(put(set, 1, OWN));
    Checkpoint item = await(commit(set)).item();
    await(process().checkpoints.delete(member("alice"), item.id()));
    sweep();
    nothingIsLeft();
  }

  @Test
  void bytesThatNoSetIsToHaveAnyMoreAreFoundByTheSweep() throws Exception {
    CheckpointService.AnnouncedSet set = announce("orphan", SHARED, OWN);
    failNextCommits(1);
    fails(RuntimeException.class, put(set, 0, SHARED));
    await(process().checkpoints.delete(member("alice"), set.announced().item().id()));
    sweep();
    nothingIsLeft();
  }

  @Test
  void aCommitThatIsToldOfTwicePublishesOnce() throws Exception {
    CheckpointService.AnnouncedSet set = announce("twice", SHARED, OWN);
    send(set, SHARED, OWN);
    loseNextAnswer();
    fails(RuntimeException.class, commit(set));
    Checkpoint item = await(commit(set)).item();
    Revision live = CheckpointView.live(item);
    assertArrayEquals(SetFile.manifest(files(SHARED, OWN)), content(item, live));
  }

  @Test
  void aRevisionThatTheReleaseBeforeWroteAnewIsStillASet() throws Exception {
    String id = publish("one", SHARED, OWN);
    await(database.commit(List.of(Statement.of("UPDATE checkpoint_revision SET files = 0"))));
    assertEquals(
        2, await(process().checkpoints.get(LAB.orgId(), id)).item().shown().metadata().files());
    await(process().checkpoints.delete(member("alice"), id));
    sweep();
    nothingIsLeft();
  }

  @Test
  void theFilesOfASetThatTheReleaseBeforeDeletedAreForgotten() throws Exception {
    publish("one", SHARED, OWN);
    await(
        database.commit(
            List.of(
                Statement.of("DELETE FROM checkpoint_revision"),
                Statement.of("DELETE FROM checkpoint"),
                Statement.of("DELETE FROM checkpoint_usage"))));
    sweep();
    nothingIsLeft();
  }

  @Test
  void everyBlobOfASetIsAmongThoseThatAreChecked() throws Exception {
    String first = publish("first", SHARED, OWN);
    publish("second", SHARED, OTHER);
    StoredBlobs stored = new StoredBlobs(database);
    List<StoredBlobs.Blob> all = new ArrayList<>();
    String after = "";
    for (List<StoredBlobs.Blob> page = await(stored.list(after, 2));
        !page.isEmpty();
        page = await(stored.list(after, 2))) {
      all.addAll(page);
      after = page.get(page.size() - 1).key();
    }
    List<String> keys = all.stream().map(StoredBlobs.Blob::key).sorted().toList();
    assertEquals(names(true).stream().sorted().toList(), keys);
    for (StoredBlobs.Blob blob : all) {
      assertEquals(await(blobs.read(blob.key())).length(), blob.bytes(), blob.key());
      assertEquals(Optional.of(blob), await(stored.find(blob.key())));
    }
    assertEquals(5, await(stored.total()).blobs());
    assertEquals(3, await(stored.listOf(first)).size(), "two files and the manifest");
  }

  @Test
  void aSetOfTheMostFilesIsLinkedReplacedAndDeletedWithAllItsReferences() throws Exception {
    byte[][] contents = {SHARED, OWN, OTHER, bytes(500, 4)};
    byte[][] many = new byte[4_096][];
    Arrays.setAll(many, i -> contents[i % contents.length]);
    String first = publish("first", many);
    assertEquals(List.of(1_024L, 1_024L, 1_024L, 1_024L), references());
    String second = publish("second", many);
    assertEquals(List.of(2_048L, 2_048L, 2_048L, 2_048L), references());
    publish("second", SHARED, OWN);
    assertEquals(List.of(1_024L, 1_024L, 1_025L, 1_025L), references());
    await(process().checkpoints.delete(member("alice"), first));
    assertEquals(List.of(1L, 1L), references());
    await(process().checkpoints.delete(member("alice"), second));
    sweep();
    nothingIsLeft();
  }

  /** Returns the reference counts of blobs, ordered by length. */
  private List<Long> references() throws Exception {
    return integers("SELECT refs FROM checkpoint_blob ORDER BY bytes");
  }
}
