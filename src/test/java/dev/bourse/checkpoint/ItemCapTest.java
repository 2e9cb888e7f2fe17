package dev.bourse.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Statement;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The limit of an organization's number of items. */
class ItemCapTest extends CheckpointFixture {
  @Test
  void emptyFilesCountAsItems() throws Exception {
    await(
        database.commit(
            List.of(
                Statement.of(
                    "INSERT INTO checkpoint_usage (org_id, used_bytes, items) VALUES (?, 0, ?)",
                    LAB.orgId(),
                    CheckpointChanges.MAX_ITEMS - 1))));
    Services services = services();
    await(
        services.checkpoints.publish(
            member("alice"), publication(Visibility.ORG, "last.bin", new byte[0], false)));
    ApiException refused =
        fails(
            ApiException.class,
            services.checkpoints.publish(
                member("alice"), publication(Visibility.ORG, "more.bin", new byte[0], false)));
    assertEquals(ErrorCode.ORG_CAP, refused.code());
  }
}
