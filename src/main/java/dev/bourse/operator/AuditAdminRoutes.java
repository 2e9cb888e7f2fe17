package dev.bourse.operator;

import dev.bourse.audit.Chain;
import dev.bourse.audit.SealFault;
import dev.bourse.audit.SealService;
import dev.bourse.audit.TrailEntry;
import dev.bourse.audit.TrailExport;
import dev.bourse.audit.TrailQuery;
import dev.bourse.audit.TrailStore;
import dev.bourse.audit.TrailText;
import dev.bourse.audit.Trails;
import dev.bourse.core.Times;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.schemas.operator.TrailJson;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.Optional;

/** Operations of the operator contract on the trails and their seals. */
public final class AuditAdminRoutes {
  /**
   * The platform's own trail, in place of an organization's id, which cannot contain an underscore.
   */
  private static final String PLATFORM = "_platform";

  private final TrailStore trails;
  private final SealService seals;

  public AuditAdminRoutes(TrailStore trails, SealService seals) {
    this.trails = trails;
    this.seals = seals;
  }

  public void bind(Operations operations) {
    operations
        .bind("listPlatformActivity", this::list)
        .bind("exportPlatformActivityCsv", this::list)
        .bind("exportPlatformActivityNdjson", this::list)
        .bind("verifySeals", this::verify);
  }

  private Future<Answer> list(Call call) {
    String org = call.text("org");
    String owner = owner(org);
    TrailQuery query =
        TrailQuery.of(call.text("reads"), call.findInteger("limit"), call.findInteger("before"));
    Optional<TrailText> form = TrailText.of(call.mediaType());
    return trails
        .requireTrail(owner)
        .compose(
            known ->
                form.isPresent()
                    ? Future.succeededFuture(
                        new Answer.Streamed(
                            new TrailExport(trails, owner, form.get(), query)::next))
                    : trails
                        .listEntries(owner, Optional.empty(), query)
                        .map(
                            page ->
                                Answer.ok(
                                    new TrailJson(
                                        page.items().stream().map(TrailEntry::toJson).toList(),
                                        page.more(),
                                        org))));
  }

  private static String owner(String org) {
    return org.equals(PLATFORM) ? Trails.PLATFORM : org;
  }

  private Future<Answer> verify(Call call) {
    String org = call.text("org");
    String kind = call.text("kind");
    Chain chain = new Chain(owner(org), kind.equals("reads"));
    return seals
        .verifySeals(chain, call.findInteger("after").orElseGet(() -> call.integer("after_batch")))
        .map(report -> Answer.ok(json(org, kind, report)));
  }

  private static JsonObject json(String org, String kind, SealService.Report report) {
    SealService.Head head = report.head();
    SealFault fault = report.fault();
    return new JsonObject()
        .put("org", org)
        .put("kind", kind)
        .put("batches", report.batches())
        .put("rows", report.rows())
        .put("purged_batches", report.purgedBatches())
        .put("next", report.next())
        .put("sealed_through", report.throughId())
        .put(
            "head",
            head == null
                ? null
                : new JsonObject()
                    .put("batch", head.batch())
                    .put("seal", head.seal())
                    .put("sealed_at", Times.rfc3339(head.sealedAtMillis())))
        .put(
            "fault",
            fault == null
                ? null
                : new JsonObject()
                    .put("batch", fault.batch())
                    .put("row_id", fault.rowId())
                    .put("what", fault.what().label())
                    .put("detail", fault.detail()));
  }
}
