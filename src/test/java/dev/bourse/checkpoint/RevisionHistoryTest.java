package dev.bourse.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The list of an item's revisions. */
class RevisionHistoryTest extends CheckpointFixture {
  private static final byte[] BYTES = bytes(100, 1);

  @Test
  void theNewestHundredAreKeptUntilTheItemIsDeleted() throws Exception {
    Services services = services();
    String id = "";
    for (int i = 0; i < RevisionHistory.KEPT + 2; i++) {
      id = publish(services);
    }
    List<RevisionHistory.Entry> kept =
        await(services.checkpoints.getHistory(LAB.orgId(), id)).revisions();
    assertEquals(RevisionHistory.KEPT, kept.size());
    assertEquals(RevisionHistory.KEPT + 2, kept.get(0).revision());
    assertEquals(3, kept.get(kept.size() - 1).revision());
    await(services.checkpoints.delete(member("alice"), id));
    assertEquals(List.of(), await(services.store.listRevisions(id)));
  }

  @Test
  void aRepeatedCommitListsARevisionOnce() throws Exception {
    Services services = services();
    CheckpointService.Announced announced =
        await(
            services.checkpoints.publish(
                member("alice"), publication(Visibility.PUBLIC, "model.bin", BYTES, true)));
    await(services.sessions.put(announced.session(), Optional.empty(), source(BYTES)));
    String id = announced.item().id();
    await(services.sessions.commit(member("alice"), id, BYTES.length, Optional.empty()));
    Checkpoint item = await(services.checkpoints.get(LAB.orgId(), id)).item();
    String review = String.valueOf(item.shown().reviewId());
    await(services.reviews.approve("operator:first", review));
    List<RevisionHistory.Entry> kept = await(services.store.listRevisions(id));
    assertEquals(1, kept.size(), "a review publishes no other revision");
    assertEquals(sha256(BYTES), kept.get(0).sha256());
  }

  private String publish(Services services) throws Exception {
    CheckpointService.Announced announced =
        await(
            services.checkpoints.publish(
                member("alice"), publication(Visibility.ORG, "model.bin", BYTES, false)));
    await(services.direct.put(member("alice"), announced.item().id(), source(BYTES)));
    return announced.item().id();
  }
}
