package dev.bourse.operator;

import dev.bourse.capacity.BidderEvents;
import dev.bourse.core.ApiException;
import dev.bourse.core.Price;
import dev.bourse.core.Times;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.edge.fields.CommonFields;
import dev.bourse.json.JsonReader;
import dev.bourse.pools.Pool;
import dev.bourse.pools.settings.PoolService;
import dev.bourse.schemas.operator.NewPoolJson;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Clock;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Operations of the operator contract on pools. */
public final class PoolAdminRoutes {
  private static final String RESERVE = "reserve_price_per_gpu_hour";
  private static final String PAUSED = "paused";
  private static final String PAUSE_REASON = "pause_reason";
  private static final String EXPECTED = "expected";
  private static final String CAP = "max_price_cap_per_gpu_hour";

  private final PoolService pools;
  private final BidderEvents bidders;
  private final Clock clock;

  public PoolAdminRoutes(PoolService pools, BidderEvents bidders, Clock clock) {
    this.pools = pools;
    this.bidders = bidders;
    this.clock = clock;
  }

  public void bind(Operations operations) {
    operations
        .ok(
            "listPools",
            call ->
                Future.succeededFuture(
                    pools.listPools(
                        Optional.ofNullable(call.operator().site()), call.after(), call.limit())),
            CommonFields.page("pools", "name", PoolAdminRoutes::json))
        .created("createPool", this::create, PoolAdminRoutes::json)
        .ok("readPool", call -> Future.succeededFuture(read(call)), PoolAdminRoutes::json)
        .ok("updatePool", this::update, PoolAdminRoutes::json)
        .ok("listPoolBidders", this::listBidders, answer -> answer);
  }

  private Pool read(Call call) {
    Pool pool = pools.readPool(call.text("pool"));
    call.operator().requireSite("pool " + pool.name(), pool.site());
    return pool;
  }

  private Future<JsonObject> listBidders(Call call) {
    long since = clock.millis() - BidderEvents.KEPT_MILLIS;
    return bidders
        .readSummary(read(call).name(), since)
        .map(
            summary ->
                new JsonObject()
                    .put("since", Times.rfc3339(summary.sinceMillis()))
                    .put(
                        "bidders",
                        new JsonArray(
                            summary.bidders().stream()
                                .map(
                                    one ->
                                        new JsonObject()
                                            .put("org_id", one.orgId())
                                            .put("nodes_evicted", one.evicted())
                                            .put("nodes_given_up", one.givenUp()))
                                .toList())));
  }

  private Future<Pool> create(Call call) {
    NewPoolJson sent = NewPoolJson.read(call.body());
    Pool pool =
        new Pool(
            sent.name(),
            sent.site(),
            sent.provider(),
            new Pool.Hardware(sent.gpuVendor(), sent.gpuModel(), sent.gpusPerNode()),
            new Pool.Bounds(
                CommonFields.cents(RESERVE, sent.reservePricePerGpuHour()),
                CommonFields.cents(CAP, sent.maxPriceCapPerGpuHour())),
            new Pool.Rules(
                sent.detectorArmed(),
                sent.swapsEnabled(),
                sent.selfService(),
                Pool.Tenants.of(sent.tenants()),
                sent.noticeMs().map(Integer::longValue).over(null)),
            null,
            new Pool.Environment(
                sent.sshUser(),
                sent.sshPort(),
                new TreeMap<>(sent.env()),
                new TreeMap<>(sent.storage())));
    return pools.createPool(call.actor(), pool);
  }

  private Future<Pool> update(Call call) {
    JsonObject body = call.body();
    JsonObject expected = body.getJsonObject(EXPECTED, new JsonObject());
    if (body.fieldNames().equals(Set.of(EXPECTED))) {
      throw ApiException.badField(EXPECTED, expected.encode(), "a term to change beside it");
    }
    return pools.updatePool(call.actor(), call.text("pool"), settings(body), settings(expected));
  }

  private static PoolService.Settings settings(JsonObject body) {
    JsonReader in = new JsonReader(body);
    return new PoolService.Settings(
        in.setting("gpu_model", in::text),
        cents(in, RESERVE),
        cents(in, CAP),
        Optional.ofNullable(body.getBoolean("detector_armed")),
        Optional.ofNullable(body.getBoolean("swaps_enabled")),
        Optional.ofNullable(body.getBoolean("self_service")),
        Optional.ofNullable(body.getString("tenants")).map(Pool.Tenants::of),
        in.setting("notice_ms", in::longInteger),
        pause(body),
        Optional.ofNullable(body.getJsonObject("env")).map(PoolAdminRoutes::texts),
        Optional.ofNullable(body.getJsonObject("storage")).map(PoolAdminRoutes::texts));
  }

  private static Optional<PoolService.PauseChange> pause(JsonObject body) {
    Boolean paused = body.getBoolean(PAUSED);
    String reason = body.getString(PAUSE_REASON);
    if (Boolean.TRUE.equals(paused) && reason == null) {
      throw ApiException.badField(
          PAUSE_REASON, null, "why the market is paused, for tenants to read");
    }
    if (!Boolean.TRUE.equals(paused) && reason != null) {
      throw ApiException.badField(PAUSE_REASON, reason, "none without paused: true");
    }
    return Optional.ofNullable(paused).map(on -> new PoolService.PauseChange(on, reason));
  }

  private static Optional<Long> cents(JsonReader in, String field) {
    return Optional.ofNullable(in.optional(field, in::decimal))
        .map(usd -> CommonFields.cents(field, usd));
  }

  private static Map<String, String> texts(JsonObject json) {
    Map<String, String> texts = new TreeMap<>();
    json.fieldNames().forEach(name -> texts.put(name, json.getString(name)));
    return texts;
  }

  private static JsonObject json(Pool pool) {
    Pool.Pause pause = pool.pause();
    return new JsonObject()
        .put("name", pool.name())
        .put("site", pool.site())
        .put("provider", pool.provider())
        .put("gpu_vendor", pool.gpuVendor())
        .put("gpu_model", pool.gpuModel())
        .put("gpus_per_node", pool.gpusPerNode())
        .put(RESERVE, Price.toUsd(pool.reserveCents()))
        .put(CAP, Price.toUsd(pool.capCents()))
        .put("detector_armed", pool.detectorArmed())
        .put("swaps_enabled", pool.swapsEnabled())
        .put("self_service", pool.selfService())
        .put("tenants", pool.tenants().label())
        .put("notice_ms", pool.noticeMillis())
        .put(PAUSED, pool.isPaused())
        .put("paused_since", pause == null ? null : Times.rfc3339(pause.sinceMillis()))
        .put("paused_by", pause == null ? null : pause.by())
        .put(PAUSE_REASON, pause == null ? null : pause.reason())
        .put("ssh_user", pool.environment().sshUser())
        .put("ssh_port", pool.environment().sshPort())
        .put("env", texts(pool.environment().env()))
        .put("storage", texts(pool.environment().storage()));
  }

  private static JsonObject texts(Map<String, String> texts) {
    JsonObject json = new JsonObject();
    new TreeMap<>(texts).forEach(json::put);
    return json;
  }
}
