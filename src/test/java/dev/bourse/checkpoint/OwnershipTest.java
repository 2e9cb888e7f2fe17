package dev.bourse.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Statement;
import dev.bourse.uploads.UploadFixture;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The owner of an item when usernames are reused, also by the previous release. */
class OwnershipTest extends UploadFixture {
  private static final Statement REMOVE =
      Statement.of("DELETE FROM member WHERE username = 'alice'");

  private CheckpointService.Announced published(String fileName) throws Exception {
    CheckpointService.Announced announced = announce(fileName, BYTES, false);
    await(process().direct.put(member("alice"), announced.item().id(), source(BYTES)));
    return announced;
  }

  private boolean isShownAsTheirs(String id) throws Exception {
    return CheckpointView.own(await(process().checkpoints.get(LAB.orgId(), id)), principal("alice"))
        .canDelete();
  }

  private void anotherAliceComes() throws Exception {
    decide(REMOVE);
    clock.advance(1);
    decide(enlist("alice"));
  }

  @Test
  void whoGetsTheNameOfARemovedMemberGetsNoneOfTheirItems() throws Exception {
    String id = published("a.bin").item().id();
    assertTrue(isShownAsTheirs(id));
    anotherAliceComes();
    assertFalse(isShownAsTheirs(id));
    CheckpointService checkpoints = process().checkpoints;
    gone(checkpoints.delete(member("alice"), id));
    assertEquals(
        ErrorCode.CONFLICT,
        fails(
                ApiException.class,
                checkpoints.publish(
                    member("alice"), publication(Visibility.ORG, "a.bin", BYTES, false)))
            .code());
    String theirs = published("b.bin").item().id();
    assertTrue(isShownAsTheirs(theirs));
    await(checkpoints.delete(member("alice"), theirs));
  }

  @Test
  void whatTheVersionBeforeStoredIsItsCreatorsAndNobodyElses() throws Exception {
    String id = published("a.bin").item().id();
    Statement asBefore = Statement.of("UPDATE checkpoint SET creator_id = NULL");
    await(database.commit(List.of(asBefore)));
    assertTrue(isShownAsTheirs(id));
    anotherAliceComes();
    assertFalse(isShownAsTheirs(id));
    gone(process().checkpoints.delete(member("alice"), id));
  }

  @Test
  void anUploadIsNotGoneOnWithByWhoGetsTheName() throws Exception {
    for (boolean resumable : new boolean[] {true, false}) {
      CheckpointService.Announced announced = announce(resumable);
      anotherAliceComes();
      gone(process().direct.put(member("alice"), announced.item().id(), source(BYTES)));
      if (resumable) {
        gone(process().sessions.put(announced.session(), Optional.empty(), source(BYTES)));
      }
      clock.advance(2 * CONFIG.sessionMillis());
    }
  }
}
