package dev.bourse.edge.limits;

import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;

/**
 * Stands behind a connection's decoder and treats a request of another HTTP version as malformed.
 * Vert.x would answer it 501 by itself, without the headers and the body of our answers.
 */
@Sharable
final class HttpVersionHandler extends ChannelInboundHandlerAdapter {
  static final HttpVersionHandler INSTANCE = new HttpVersionHandler();

  private HttpVersionHandler() {}

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (message instanceof HttpRequest request
        && request.decoderResult().isSuccess()
        && !isSpoken(request.protocolVersion())) {
      request.setDecoderResult(
          DecoderResult.failure(
              new IllegalArgumentException("not spoken: " + request.protocolVersion())));
    }
    context.fireChannelRead(message);
  }

  /**
   * The decoder makes these two instances of what it reads; what only equals them, such as {@code
   * http/1.1}, Vert.x does not know.
   */
  @SuppressWarnings("ReferenceEquality")
  private static boolean isSpoken(HttpVersion version) {
    return version == HttpVersion.HTTP_1_1 || version == HttpVersion.HTTP_1_0;
  }
}
