package dev.bourse.simulation;

import dev.bourse.app.BareProcess;
import dev.bourse.simulation.UploadPlace.Acknowledged;
import dev.bourse.store.Statement;
import dev.bourse.store.sqlite.MemoryEngine;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Invariants of published files. The clients check those that need an answer. */
final class UploadInvariants {
  private static final String KEY = "item_id || '.' || revision || '.' || sha256";

  private UploadInvariants() {}

  /** Creates a fresh instance of each. */
  static List<Invariant> all() {
    return List.of(new StorageIsSummedUp(), new PublishedFilesAreKept(), new UselessBytesGo());
  }

  /** An organization's stored usage is the sum of its items' revisions. */
  static final class StorageIsSummedUp extends Invariant {
    @Override
    void afterCommit(World world, String process, List<Statement> statements) {
      if (touches(statements, "checkpoint_usage") || touches(statements, "checkpoint_revision")) {
        List<String> wrong =
            world
                .server
                .engine()
                .query(
                    "SELECT org_id || ': ' || used_bytes || ' bytes of ' || items || ' items, not '"
                        + " || held || ' of ' || there AS found FROM (SELECT u.org_id,"
                        + " u.used_bytes, u.items, (SELECT COALESCE(SUM(r.bytes), 0) FROM"
                        + " checkpoint_revision r JOIN checkpoint c ON c.item_id = r.item_id WHERE"
                        + " c.org_id = u.org_id AND r.state <> 'expired') AS held, (SELECT COUNT(*)"
                        + " FROM checkpoint c WHERE c.org_id = u.org_id) AS there FROM"
                        + " checkpoint_usage u) WHERE used_bytes <> held OR items <> there",
                    List.of(),
                    row -> row.text("found"));
        if (!wrong.isEmpty()) {
          throw violated("after a commit of {}: {}", process, wrong);
        }
      }
    }
  }

  /**
   * An acknowledged file is stored with its bytes, unless it was replaced or deleted; every
   * readable file was sent for publication.
   */
  static final class PublishedFilesAreKept extends Invariant {
    private record Live(String itemId, String place, int revision, String sha256) {}

    @Override
    void atRest(World world) {
      MemoryEngine engine = world.server.engine();
      List<Live> all =
          engine.query(
              "SELECT c.item_id, c.org_id || '/' || c.filename AS found, r.revision, r.sha256"
                  + " FROM checkpoint c JOIN checkpoint_revision r ON r.item_id = c.item_id"
                  + " AND r.revision = c.live_revision",
              List.of(),
              row ->
                  new Live(
                      row.text("item_id"),
                      row.text("found"),
                      (int) row.integer("revision"),
                      row.text("sha256")));
      Disk disk = world.slots().get(0).disk;
      for (Live live : all) {
        UploadPlace place = world.uploads.places().get(live.place);
        byte[] sent = place == null ? null : place.contents.get(live.sha256);
        Disk.File file = disk.blobs.get(live.itemId + '.' + live.revision + '.' + live.sha256);
        if (sent == null || file == null || !Arrays.equals(sent, file.bytes)) {
          throw violated(
              "{} is readable; sent with these bytes: {}, stored: {}",
              live,
              sent != null,
              file != null);
        }
        if (world.uploads.readers().deleted().contains(live.itemId)) {
          throw violated("{} exists although it was deleted", live);
        }
      }
      world
          .uploads
          .places()
          .values()
          .forEach(
              place -> {
                Acknowledged due = place.acknowledged;
                if (due != null
                    && !place.isDeletionInDoubt
                    && !world.access.retirements().containsKey(place.organization)
                    && all.stream().noneMatch(live -> isAsGood(live, due))) {
                  throw violated("{} was acknowledged and is not stored: {}", due, all);
                }
              });
    }

    private static boolean isAsGood(Live live, Acknowledged due) {
      return live.itemId.equals(due.itemId())
          && (live.revision > due.revision()
              || (live.revision == due.revision() && live.sha256.equals(due.sha256())));
    }
  }

  /**
   * Unreferenced bytes are deleted. Bytes left by a crash count as orphans after an hour, by their
   * machine's date; the check lets days pass at rest, because the machine's clock may have been
   * days ahead.
   */
  static final class UselessBytesGo extends Invariant {
    private static final long PASSED_MILLIS = Duration.ofDays(5).toMillis();

    /** Processes that delete by age, which they may not do by a clock that was just set. */
    private final Set<String> confirmed = new TreeSet<>();

    @Override
    void atRest(World world) {
      for (Replica replica : world.ready()) {
        BareProcess core = replica.core();
        if (core != null && core.isTimeConfirmed()) {
          confirmed.add(replica.name());
        }
      }
      world.slots().forEach(slot -> slot.disk.age(PASSED_MILLIS));
    }

    @Override
    void whenReleased(World world) {
      MemoryEngine engine = world.server.engine();
      Set<String> useful =
          new TreeSet<>(
              engine.query(
                  "SELECT " + KEY + " AS found FROM checkpoint_revision WHERE sha256 IS NOT NULL",
                  List.of(),
                  row -> row.text("found")));
      useful.addAll(
          engine.query(
              "SELECT item_id || '.' || revision AS found FROM checkpoint_revision WHERE state ="
                  + " 'pending'",
              List.of(),
              row -> row.text("found")));
      for (World.Slot slot : world.slots()) {
        Replica replica = slot.replica;
        if (replica == null || !confirmed.contains(replica.name())) {
          continue;
        }
        for (Map<String, Disk.File> files : List.of(slot.disk.uploads, slot.disk.blobs)) {
          Set<String> useless = new TreeSet<>(files.keySet());
          useless.removeAll(useful);
          if (!useless.isEmpty()) {
            throw violated("the disk of p{} keeps {}, which no row refers to", slot.index, useless);
          }
        }
      }
    }
  }
}
