package dev.bourse.checkpoint;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What sets leave behind, and what of it others still hold. */
class SetSweepTest extends CheckpointFixture {
  private static final byte[] SHARED = bytes(3_000, 1);
  private static final byte[] OWN = bytes(2_000, 2);
  private static final byte[] OTHER = bytes(1_000, 3);

  private CheckpointService.AnnouncedSet announce(Services services, String name, byte[]... files)
      throws Exception {
    List<SetFile> announced = new ArrayList<>();
    long sum = 0;
    for (int i = 0; i < files.length; i++) {
      announced.add(SetFile.announced(i, i + ".bin", files[i].length, sha256(files[i])));
      sum += files[i].length;
    }
    return await(
        services.checkpoints.publishSet(
            member("alice"),
            new CheckpointService.SetAnnouncement(
                new Metadata("A set", "", name, SetFile.MANIFEST_TYPE, sum, null, files.length),
                Visibility.ORG,
                ReplacePolicy.ANY,
                announced)));
  }

  private void send(Services services, CheckpointService.AnnouncedSet set, byte[]... files)
      throws Exception {
    for (int number : set.missing()) {
      assertTrue(
          await(
                  services.files.put(
                      set.announced().session(), number, Optional.empty(), source(files[number])))
              .isComplete());
    }
  }

  private Future<CheckpointStore.Listed> commit(
      Services services, CheckpointService.AnnouncedSet set) {
    CheckpointService.Announced announced = set.announced();
    return services.sessions.commit(
        member("alice"),
        announced.item().id(),
        announced.draft().metadata().bytes(),
        Optional.empty());
  }

  private String publish(Services services, String name, byte[]... files) throws Exception {
    CheckpointService.AnnouncedSet set = announce(services, name, files);
    send(services, set, files);
    return await(commit(services, set)).item().id();
  }

  /** Runs of the sweep until none finds anything to do, long after. */
  private void sweep(Services services) throws Exception {
    clock.advance(Sweep.ORPHAN_AGE_MILLIS + 10 * CONFIG.graceMillis());
    while (await(services.sweep.run()) > 0) {
      clock.advance(10 * CONFIG.graceMillis());
    }
  }

  private void nothingIsLeft() throws Exception {
    assertEquals(List.of(), names(true));
    assertEquals(List.of(), names(false));
    for (String table : List.of("checkpoint_file", "checkpoint_blob", "checkpoint_garbage")) {
      assertEquals(0L, integers("SELECT COUNT(*) FROM " + table).get(0), table);
    }
    assertEquals(0L, accountedBytes());
  }

  private List<String> stored() throws Exception {
    return texts("SELECT sha256 FROM checkpoint_blob ORDER BY bytes");
  }

  @Test
  void aFileIsKeptUntilTheLastSetThatHoldsItIsGone() throws Exception {
    Services services = services();
    String first = publish(services, "first", SHARED, OWN);
    String second = publish(services, "second", SHARED, OTHER);
    await(services.checkpoints.delete(member("alice"), first));
    sweep(services);
    assertEquals(List.of(sha256(OTHER), sha256(SHARED)), stored());
    assertEquals(3, names(true).size(), "two files and a manifest");
    await(services.checkpoints.delete(member("alice"), second));
    sweep(services);
    nothingIsLeft();
  }

  @Test
  void aReplacedSetKeepsWhatItsSuccessorHas() throws Exception {
    Services services = services();
    String id = publish(services, "one", SHARED, OWN);
    assertEquals(id, publish(services, "one", SHARED, OTHER));
    sweep(services);
    assertEquals(List.of(sha256(OTHER), sha256(SHARED)), stored());
    assertEquals(SHARED.length + OTHER.length, accountedBytes());
  }

  @Test
  void aSetWhoseFilesDidNotComeInTimeLeavesNothing() throws Exception {
    Services services = services();
    CheckpointService.AnnouncedSet set = announce(services, "late", SHARED, OWN, OTHER);
    await(services.files.put(set.announced().session(), 0, Optional.empty(), source(SHARED)));
    await(
        services.files.put(
            set.announced().session(),
            1,
            Optional.of("bytes 0-999/2000"),
            source(OWN, 0, 1_000, null)));
    clock.advance(CONFIG.sessionMillis());
    await(services.uploads.closeIdle());
    sweep(services);
    clock.advance(2 * CONFIG.sessionMillis());
    sweep(services);
    nothingIsLeft();
  }

  @Test
  void aSetWhoseMemberMayNotPublishAnyMoreIsTakenBack() throws Exception {
    Services services = services();
    CheckpointService.AnnouncedSet set = announce(services, "withdrawn", SHARED, OWN);
    await(services.files.put(set.announced().session(), 0, Optional.empty(), source(SHARED)));
    decide(
        Statement.of(
            "UPDATE member SET suspended_at = ? WHERE username = 'alice'", clock.millis()));
    sweep(services);
    nothingIsLeft();
  }

  @Test
  void theSetsOfARetiredOrganizationAreDeleted() throws Exception {
    Services services = services();
    publish(services, "one", SHARED, OWN);
    announce(services, "two", SHARED, OTHER);
    decide(Statement.of("UPDATE org SET retired_at = ? WHERE org_id = 'lab'", clock.millis()));
    sweep(services);
    nothingIsLeft();
  }

  @Test
  void whatADeadProcessHasStoredOfAnAwaitedSetIsKeptAndGoesWithIt() throws Exception {
    Services services = services();
    CheckpointService.AnnouncedSet set = announce(services, "dead", SHARED, OWN);
    failNextCommits(1);
    fails(
        RuntimeException.class,
        services.files.put(set.announced().session(), 0, Optional.empty(), source(SHARED)));
    assertEquals(1, names(true).size(), "it is stored, and no row tells");
    sweep(services);
    assertEquals(1, names(true).size());
    send(services, set, SHARED, OWN);
    Checkpoint item = await(commit(services, set)).item();
    await(services.checkpoints.delete(member("alice"), item.id()));
    sweep(services);
    nothingIsLeft();
  }

  @Test
  void bytesThatNoSetIsToHaveAnyMoreAreFoundByTheSweep() throws Exception {
    Services services = services();
    CheckpointService.AnnouncedSet set = announce(services, "orphan", SHARED, OWN);
    failNextCommits(1);
    fails(
        RuntimeException.class,
        services.files.put(set.announced().session(), 0, Optional.empty(), source(SHARED)));
    await(services.checkpoints.delete(member("alice"), set.announced().item().id()));
    sweep(services);
    nothingIsLeft();
  }

  @Test
  void aCommitThatIsToldOfTwicePublishesOnce() throws Exception {
    Services services = services();
    CheckpointService.AnnouncedSet set = announce(services, "twice", SHARED, OWN);
    send(services, set, SHARED, OWN);
    loseNextAnswer();
    fails(RuntimeException.class, commit(services, set));
    Checkpoint item = await(commit(services, set)).item();
    Revision live = CheckpointView.live(item);
    assertArrayEquals(
        SetFile.manifest(
            List.of(
                SetFile.announced(0, "0.bin", SHARED.length, sha256(SHARED)),
                SetFile.announced(1, "1.bin", OWN.length, sha256(OWN)))),
        content(item, live));
  }

  @Test
  void aRevisionThatTheReleaseBeforeWroteAnewIsStillASet() throws Exception {
    Services services = services();
    String id = publish(services, "one", SHARED, OWN);
    await(database.commit(List.of(Statement.of("UPDATE checkpoint_revision SET files = 0"))));
    assertEquals(
        2, await(services.checkpoints.get(LAB.orgId(), id)).item().shown().metadata().files());
    await(services.checkpoints.delete(member("alice"), id));
    sweep(services);
    nothingIsLeft();
  }

  @Test
  void theFilesOfASetThatTheReleaseBeforeDeletedAreForgotten() throws Exception {
    Services services = services();
    publish(services, "one", SHARED, OWN);
    await(
        database.commit(
            List.of(
                Statement.of("DELETE FROM checkpoint_revision"),
                Statement.of("DELETE FROM checkpoint"),
                Statement.of("DELETE FROM checkpoint_usage"))));
    sweep(services);
    nothingIsLeft();
  }

  @Test
  void everyBlobOfASetIsAmongThoseThatAreChecked() throws Exception {
    Services services = services();
    String first = publish(services, "first", SHARED, OWN);
    publish(services, "second", SHARED, OTHER);
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
}
