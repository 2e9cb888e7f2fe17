package dev.bourse.roadmap;

import dev.bourse.edge.Answer;
import dev.bourse.edge.Operations;
import io.vertx.core.Future;

/** The operation that reads the roadmap. */
public final class RoadmapRoutes {
  private final Roadmap roadmap;

  public RoadmapRoutes(Roadmap roadmap) {
    this.roadmap = roadmap;
  }

  public void bind(Operations operations) {
    operations.bind(
        "readRoadmap",
        call -> Future.succeededFuture(Answer.ok(roadmap.toJson(call.findText("status")))));
  }
}
