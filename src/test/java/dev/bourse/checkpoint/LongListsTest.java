package dev.bourse.checkpoint;

import static dev.bourse.capacity.StoreFixture.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.AccessStore;
import dev.bourse.access.Organization;
import dev.bourse.core.FakeClock;
import dev.bourse.core.Page;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Lists too long for one read. Engines plug in by subclassing. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
abstract class LongListsTest {
  private static final int LIMIT = 50;

  final Vertx vertx = Vertx.vertx();
  final FakeClock clock = new FakeClock(1_000_000);
  private Database database;
  private CheckpointStore store;

  abstract Future<? extends Database> open() throws Exception;

  @BeforeEach
  void openStore() throws Exception {
    database = await(open());
    store = new CheckpointStore(database);
    await(
        database.commit(
            List.of(AccessStore.insert(new Organization("lab", "Lab", "public_research"), 1))));
  }

  @AfterEach
  void closeStore() throws Exception {
    await(database.close());
    await(vertx.close());
  }

  /** Publishes a number of items on the feed, each a millisecond newer than the one before. */
  private void publish(int count) throws Exception {
    String numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) ";
    await(
        database.commit(
            List.of(
                Statement.of(
                    numbers
                        + "INSERT INTO checkpoint (item_id, org_id, visibility, filename, creator,"
                        + " created_at, changed_at, last_revision, version, head_revision,"
                        + " live_revision, search, feed_at, feed_search)"
                        + " SELECT 'ckp_' || i, 'lab', 'public', 'f' || i, 'alice', i, i, 1, 1, 1,"
                        + " 1, 'number ' || i || '.', i, 'number ' || i || '.' FROM n",
                    count),
                Statement.of(
                    numbers
                        + "INSERT INTO checkpoint_revision (item_id, revision, state, title,"
                        + " description, filename, content_type, bytes, resumable, created_at,"
                        + " expires_at, sha256, published_at, findings)"
                        + " SELECT 'ckp_' || i, 1, 'ready', 'number', '', 'f' || i, 'text/plain',"
                        + " 1, ?, i, i, 'ab', i, '[]' FROM n",
                    count,
                    false))));
  }

  private static List<String> ids(Page<CheckpointStore.Listed> page) {
    return page.items().stream().map(listed -> listed.item().id()).toList();
  }

  private static Optional<CheckpointStore.Cursor> last(Page<CheckpointStore.Listed> page) {
    Checkpoint item = page.items().get(page.items().size() - 1).item();
    return Optional.of(new CheckpointStore.Cursor(item.changedAtMillis(), item.id()));
  }

  @Test
  void aSearchFindsWhatIsInAnyPartOfAListNewestFirst() throws Exception {
    publish(2 * CheckpointStore.WINDOW + 10);
    List<String> found = List.of("ckp_1010", "ckp_510", "ckp_511", "ckp_10", "ckp_1");
    for (String id : found) {
      String q = "NUMBER " + id.substring(4) + ".";
      assertEquals(
          List.of(id), ids(await(store.listFeed(q, Optional.empty(), LIMIT))), "feed: " + q);
      assertEquals(
          List.of(id), ids(await(store.listOfOrg("lab", q, Optional.empty(), LIMIT))), "own: " + q);
    }
    assertEquals(
        List.of("ckp_999", "ckp_899", "ckp_799", "ckp_699", "ckp_599", "ckp_499", "ckp_399"),
        ids(await(store.listFeed("99.", Optional.empty(), 7))));
  }

  @Test
  void thePagesOfASearchAreAllItFindsAndNothingTwice() throws Exception {
    publish(2 * CheckpointStore.WINDOW + 10);
    List<String> all = new ArrayList<>();
    Optional<CheckpointStore.Cursor> before = Optional.empty();
    Page<CheckpointStore.Listed> page;
    do {
      page = await(store.listFeed("7.", before, 13));
      all.addAll(ids(page));
      before = last(page);
    } while (page.more());
    List<String> expected = new ArrayList<>();
    for (int i = 1_007; i > 0; i -= 10) {
      expected.add("ckp_" + i);
    }
    assertEquals(expected, all);
  }

  @Test
  void aPageOfASearchLooksAtSoManyItemsAndNoMore() throws Exception {
    publish(CheckpointStore.MOST_SEARCHED + 1);
    assertEquals(
        List.of("ckp_2"), ids(await(store.listFeed("number 2.", Optional.empty(), LIMIT))));
    Page<CheckpointStore.Listed> none = await(store.listFeed("number 1.", Optional.empty(), LIMIT));
    assertTrue(none.items().isEmpty() && !none.more());
    assertEquals(
        List.of("ckp_1"),
        ids(
            await(
                store.listFeed(
                    "number 1.",
                    Optional.of(new CheckpointStore.Cursor(CheckpointStore.MOST_SEARCHED, "ckp_x")),
                    LIMIT))));
  }

  @Test
  void whatAwaitsDeletionIsListedInPagesTheOldestFirst() throws Exception {
    List<Statement> rows = new ArrayList<>();
    for (int i = 0; i < 25; i++) {
      for (String kind : new String[] {"blob", "upload"}) {
        rows.add(
            Statement.of(
                "INSERT INTO checkpoint_garbage (name, kind, since) VALUES (?, ?, ?)",
                "n" + i,
                kind,
                i / 10));
      }
    }
    await(database.commit(rows));
    SweepStore sweeps = new SweepStore(database);
    int seen = 0;
    Optional<SweepStore.Garbage> after = Optional.empty();
    List<SweepStore.Garbage> page;
    do {
      page = await(sweeps.listGarbage(1, after, 7));
      for (SweepStore.Garbage one : page) {
        assertTrue(after.isEmpty() || after.get().sinceMillis() <= one.sinceMillis());
        after = Optional.of(one);
        seen++;
      }
    } while (page.size() == 7);
    assertEquals(40, seen);
  }
}
