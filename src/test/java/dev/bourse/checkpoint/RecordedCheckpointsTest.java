package dev.bourse.checkpoint;

import static dev.bourse.checkpoint.CheckpointSamples.SHA;
import static dev.bourse.checkpoint.CheckpointSamples.T0;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.access.Organization;
import dev.bourse.access.Principal;
import dev.bourse.core.Page;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The exact text of answers about checkpoints, with a distinct value in each member, so that values
 * that change places are found. A member that is added to the contract is added here as well; a
 * change of the recorded text changes the interface.
 */
@Tag("fast")
class RecordedCheckpointsTest {
  private static final Metadata SET =
      new Metadata("Llama é", "adapters", "llama-40k", SetFile.MANIFEST_TYPE, 900, null, 3);

  private static final CheckpointStore.Listed REJECTED =
      new CheckpointStore.Listed(
          CheckpointSamples.recorded(
              revision(
                  3, Revision.State.REJECTED, CheckpointSamples.metadata("a.bin", 42), "unfit"),
              revision(2, Revision.State.READY, SET, null)),
          "Acme",
          Map.of(2, 77L));

  private static Revision revision(
      int number, Revision.State state, Metadata metadata, @Nullable String reason) {
    return new Revision(
        number,
        state,
        metadata,
        true,
        "stored",
        T0 + 1,
        T0 + 2,
        state == Revision.State.PENDING ? null : SHA,
        state == Revision.State.READY ? T0 + 3 : null,
        "rev_1",
        List.of("note"),
        reason,
        "pc_1");
  }

  @Test
  void anItemAsItsCreatorAndItsFeedShowIt() {
    Principal alice =
        new Principal(
            new Organization("acme", "Acme", "standard", false),
            "member:alice",
            "t1",
            Set.of(),
            null,
            null,
            "alice",
            "acme/alice/1",
            Principal.CredentialKind.SESSION);
    assertEquals(
        """
        {"id":"ckp_1","title":"T","description":"","filename":"a.bin",\
        "content_type":"application/octet-stream","bytes":42,\
        "sha256":"0000000000000000000000000000000000000000000000000000000000000000",\
        "visibility":"public","status":"rejected","status_detail":"Rejected in review",\
        "publisher":{"org_display":"Acme","username":"alice"},"revision":3,"published_at":null,\
        "created_at":"2023-11-14T22:13:20.005Z","urls":{"content":"/api/checkpoints/ckp_1/content"\
        ,"download":"/api/checkpoints/ckp_1/content?download=1"},"can_delete":true,\
        "rejection_reason":"unfit"}\
        """,
        CheckpointView.own(REJECTED, alice).toBuffer().toString());
    assertEquals(
        """
        {"checkpoints":[{"id":"ckp_1","title":"Llama é","description":"adapters",\
        "filename":"llama-40k","content_type":"application/vnd.bourse.set+json","bytes":77,\
        "sha256":"0000000000000000000000000000000000000000000000000000000000000000",\
        "visibility":"public","status":"ready","status_detail":"Published",\
        "publisher":{"org_display":"Acme","username":"alice"},"revision":2,\
        "published_at":"2023-11-14T22:13:20.003Z","created_at":"2023-11-14T22:13:20.005Z",\
        "files":3,"total_bytes":900,"urls":{"content":"/api/checkpoints/public/ckp_1/content",\
        "download":"/api/checkpoints/public/ckp_1/content?download=1"}}],"more":true,\
        "cursor":"loyw3v2b-ckp_1"}\
        """,
        CheckpointView.feedPage(new Page<>(List.of(REJECTED), true)).toBuffer().toString());
  }

  @Test
  void publishedRevisions() {
    assertEquals(
        """
        {"revisions":[{"revision":2,"published_at":"2023-11-14T22:13:20.001Z","username":"alice",\
        "credential_id":"pc_1","bytes":900,"sha256":"000000000000000000000000000000000000000000000\
        0000000000000000000","files":3},{"revision":1,"published_at":"2023-11-14T22:13:20.000Z",\
        "username":"alice","credential_id":null,"bytes":42,\
        "sha256":"0000000000000000000000000000000000000000000000000000000000000000"}]}\
        """,
        CheckpointView.history(
                new CheckpointService.History(
                    REJECTED.item(),
                    List.of(
                        new RevisionHistory.Entry(2, T0 + 1, 900, 3, SHA, "pc_1"),
                        new RevisionHistory.Entry(1, T0, 42, 0, SHA, null))))
            .toBuffer()
            .toString());
  }

  @Test
  void announcements() {
    Revision draft = revision(3, Revision.State.PENDING, SET, null);
    CheckpointService.Announced announced =
        new CheckpointService.Announced(
            CheckpointSamples.recorded(draft, draft), draft, true, "s3cret");
    assertEquals(
        """
        {"id":"ckp_1","revision":3,"status":"pending","visibility":"public","replaced":true,\
        "review":"required","upload":"resumable","session_url":"https://b.example/upload/s3cret",\
        "expires_at":"2023-11-14T22:13:20.002Z"}\
        """,
        AnnouncementView.announced(announced, "https://b.example", "/api/checkpoints")
            .toBuffer()
            .toString());
    assertEquals(
        """
        {"id":"ckp_1","revision":3,"status":"pending","visibility":"public","replaced":true,\
        "review":"required","upload":"resumable","session_url":"https://b.example/upload/s3cret",\
        "expires_at":"2023-11-14T22:13:20.002Z","files":3,"missing":[0,2]}\
        """,
        AnnouncementView.announced(
                new CheckpointService.AnnouncedSet(announced, List.of(0, 2)), "https://b.example")
            .toBuffer()
            .toString());
  }
}
