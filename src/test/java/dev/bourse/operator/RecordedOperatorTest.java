package dev.bourse.operator;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.DirectChange;
import dev.bourse.capacity.Hold;
import dev.bourse.capacity.Overrides;
import dev.bourse.capacity.Sample;
import dev.bourse.checkpoint.CheckpointSamples;
import dev.bourse.checkpoint.CheckpointStore;
import dev.bourse.checkpoint.Metadata;
import dev.bourse.checkpoint.ReviewService;
import dev.bourse.checkpoint.Revision;
import dev.bourse.checkpoint.SetFile;
import dev.bourse.core.Page;
import dev.bourse.org.Member;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The exact text of the operators' answers, with a distinct value in each member, so that values
 * that change places are found. A member that is added to a contract is added here as well; a
 * change of the recorded text changes the interface.
 */
@Tag("fast")
class RecordedOperatorTest {
  private static final long T0 = 1_700_000_000_000L;

  private static final Member MEMBER =
      new Member("acme", "alice", "a@acme.example", "Alice é", T0 + 1, T0 + 2, T0 + 3);

  @Test
  void members() {
    assertEquals(
        """
        {"members":[{"username":"alice","email":"a@acme.example","name":"Alice é",\
        "created_at":"2023-11-14T22:13:20.001Z","last_login_at":"2023-11-14T22:13:20.002Z",\
        "suspended_at":"2023-11-14T22:13:20.003Z"}],"more":true,"next":"alice"}\
        """,
        MemberAdminRoutes.toJson(new Page<>(List.of(MEMBER), true)).toBuffer().toString());
  }

  @Test
  void clusters() {
    Cluster cluster =
        DirectChange.hold(new Hold(Hold.Stage.NOTICE, "unpaid", T0 + 9))
            .apply(
                DirectChange.override(
                        new Overrides(
                            900L, Map.of("A", Optional.of("\"1\""), "B", Optional.empty())))
                    .apply(Sample.active(2), T0)
                    .next(),
                T0)
            .next();
    ClusterView view = Sample.views(cluster).get(0);
    assertEquals(
        """
        {"name":"c1","org":"acme","pool":"h100","kind":"vm","posture":"market",\
        "writes_armed":true,"maintenance":false,"description":null,"retired_at":null,\
        "version":1,"declared":{"max_gpus":16,"max_price_per_gpu_hour":2.0,\
        "updated_at":"2023-11-14T22:13:20.000Z","updated_by":"token:abc","until":null,\
        "max_spend_usd":null},"bid_too_low":false,"capacity_unavailable":null,"pending":0,\
        "held_nodes":2,"billing_hold":{"stage":"notice","reason":"unpaid",\
        "enforce_after":"2023-11-14T22:13:20.009Z"},"max_price_cap_per_gpu_hour":9.0,\
        "effective_max_price_cap_per_gpu_hour":9.0,"environment":{"env":{"A":"\\"1\\"",\
        "B":null}},"effective_environment":{"env":{"A":"\\"1\\""}},"nodes":[{"node_id":"n0",\
        "public_ip":"10.0.0.0","slot":0,"state":"active",\
        "granted_at":"2023-11-14T22:13:21.000Z","protected_until":"2023-11-14T23:14:20.000Z",\
        "reclaim_at":null,"reclaim_reason":null,"pinned":false,"swap":false},{"node_id":"n1",\
        "public_ip":"10.0.0.1","slot":1,"state":"active",\
        "granted_at":"2023-11-14T22:13:22.000Z","protected_until":"2023-11-14T23:14:20.000Z",\
        "reclaim_at":null,"reclaim_reason":null,"pinned":false,"swap":false}],"pins":[]}\
        """,
        ClusterAdminRoutes.state(view).toBuffer().toString());
    assertEquals(
        """
        {"name":"c1","org":"acme","pool":"h100","kind":"vm","posture":"market",\
        "writes_armed":true,"maintenance":false,"description":null,"retired_at":null,\
        "version":1,"declared":{"max_gpus":16,"max_price_per_gpu_hour":2.0,\
        "updated_at":"2023-11-14T22:13:20.000Z","updated_by":"token:abc","until":null,\
        "max_spend_usd":null},"bid_too_low":false,"capacity_unavailable":null,"pending":0,\
        "held_nodes":2,"billing_hold":{"stage":"notice","reason":"unpaid",\
        "enforce_after":"2023-11-14T22:13:20.009Z"},"max_price_cap_per_gpu_hour":9.0,\
        "effective_max_price_cap_per_gpu_hour":9.0,"environment":{"env":{"A":"\\"1\\"",\
        "B":null}},"effective_environment":{"env":{"A":"\\"1\\""}}}\
        """,
        ClusterAdminRoutes.summary(view).toBuffer().toString());
    assertEquals(
        """
        {"name":"c1","org":"acme","pool":"h100","kind":"vm","posture":"market",\
        "writes_armed":true,"maintenance":false,"description":null,"retired_at":null,\
        "version":0,"declared":null,"bid_too_low":false,"capacity_unavailable":null,\
        "pending":0,"held_nodes":0,"billing_hold":null,"max_price_cap_per_gpu_hour":null,\
        "effective_max_price_cap_per_gpu_hour":10.0,"environment":null,\
        "effective_environment":{"env":{"A":"b"}},"nodes":[],"pins":[]}\
        """,
        ClusterAdminRoutes.state(Sample.views(Sample.empty()).get(0)).toBuffer().toString());
  }

  @Test
  void checkpointsAndReviews() {
    Revision revision =
        new Revision(
            3,
            Revision.State.READY,
            new Metadata("Llama é", "adapters", "llama-40k", SetFile.MANIFEST_TYPE, 900, null, 3),
            true,
            "stored",
            T0 + 1,
            T0 + 2,
            "ab12",
            T0 + 3,
            "rev_1",
            List.of("note"),
            "unfit",
            null);
    CheckpointStore.Listed listed =
        new CheckpointStore.Listed(
            CheckpointSamples.recorded(revision, revision), "Acme", Map.of(3, 77L));
    assertEquals(
        """
        {"id":"ckp_1","org_id":"acme","title":"Llama é","description":"adapters",\
        "filename":"llama-40k","content_type":"application/vnd.bourse.set+json","bytes":77,\
        "sha256":"ab12","visibility":"public","status":"ready","status_detail":"Published",\
        "publisher":{"org_display":"Acme","username":"alice"},"revision":3,\
        "published_at":"2023-11-14T22:13:20.003Z","created_at":"2023-11-14T22:13:20.005Z",\
        "files":3,"total_bytes":900,"on_feed":true,"cursor":"loyw3v2e-ckp_1"}\
        """,
        CheckpointAdminRoutes.stored(listed).toBuffer().toString());
    assertEquals(
        """
        {"review_id":"rev_1","org_id":"acme","landed_at":"2023-11-14T22:13:20.006Z",\
        "findings":["note"],"rejection_reason":"unfit","cursor":"loyw3v2e-ckp_1",\
        "checkpoint":{"id":"ckp_1","title":"Llama é","description":"adapters",\
        "filename":"llama-40k","content_type":"application/vnd.bourse.set+json","bytes":77,\
        "sha256":"ab12","visibility":"public","status":"ready","status_detail":"Published",\
        "publisher":{"org_display":"Acme","username":"alice"},"revision":3,\
        "published_at":"2023-11-14T22:13:20.003Z","created_at":"2023-11-14T22:13:20.005Z",\
        "files":3,"total_bytes":900},"files":[{"path":"a/b.bin","bytes":900,"sha256":"cd34"}]}\
        """,
        ReviewRoutes.toJson(
                new ReviewService.Review(listed, revision),
                List.of(new SetFile(0, "a/b.bin", 900, "cd34", null, List.of())))
            .toBuffer()
            .toString());
  }
}
