{-# LANGUAGE OverloadedStrings #-}

-- | dyno's subject for Warp: a WAI application by itself, and wai-websockets for the WebSocket.
--
-- > server ADDRESS PORT [CHAIN KEY]
module Main (main) where

import Control.Concurrent (threadDelay)
import Control.Concurrent.Async (race_)
import Control.Exception (handle)
import Control.Monad (forever)
import qualified Data.ByteString.Builder as Builder
import qualified Data.ByteString.Lazy as Lazy
import Data.String (fromString)
import Data.Text (Text)
import qualified Data.Text.Encoding as Text
import qualified Data.Text.Read as Text
import Network.HTTP.Types
import Network.Wai
import Network.Wai.Handler.Warp (defaultSettings, runSettings, setHost, setPort)
import Network.Wai.Handler.WarpTLS (runTLS, tlsSettings)
import Network.Wai.Handler.WebSockets (websocketsOr)
import Network.WebSockets (ServerApp)
import qualified Network.WebSockets as WebSockets
import System.Environment (getArgs)

main :: IO ()
main = do
  address : port : pair <- getArgs
  let settings = setHost (fromString address) (setPort (read port) defaultSettings)
      -- By itself, the library takes any octets for a text.
      options = WebSockets.defaultConnectionOptions { WebSockets.connectionStrictUnicode = True }
      run = case pair of
        [chain, key] -> runTLS (tlsSettings chain key)
        _ -> runSettings
  run settings (websocketsOr options sockets application)

application :: Application
application request respond = case (requestMethod request, pathInfo request) of
  ("GET", []) -> respond (echo (queryString request))
  ("GET", ["hello"]) -> respond (text "Hello, world!")
  ("GET", ["user", user]) | user /= "" -> respond (text (Lazy.fromStrict (Text.encodeUtf8 user)))
  ("POST", ["user"]) -> strictRequestBody request >>= respond . text
  ("GET", ["poll", period]) | Just every <- microseconds period -> respond (ticks every)
  _ -> respond (responseLBS notFound404 [] "")

echo :: Query -> Response
echo [] = responseLBS ok200 [] ""
echo query = responseLBS ok200 [(hContentType, "text/xml")] (Builder.toLazyByteString answer)
  where
    answer = case lookup "value" query of
      Just value ->
        "<http_test><value>" <> foldMap Builder.byteString value <> "</value></http_test>"
      Nothing -> "<http_test><error>no value specified</error></http_test>"

text :: Lazy.ByteString -> Response
text = responseLBS ok200 [(hContentType, "text/plain")]

ticks :: Int -> Response
ticks every = responseStream ok200 [(hContentType, "text/plain")] $ \write flush ->
  forever (write "tick\n" >> flush >> threadDelay every)

sockets :: ServerApp
sockets pending = case decodePathSegments (WebSockets.requestPath request) of
  ["wspoll", period] | Just every <- microseconds period -> do
    connection <- WebSockets.acceptRequest pending
    -- Pings and closes are answered only while somebody reads.
    handle gone $
      race_ (beat connection every) (forever (WebSockets.receiveDataMessage connection))
  ["wsecho"] -> do
    connection <- WebSockets.acceptRequest pending
    handle gone $ forever (giveBack connection)
  _ -> WebSockets.rejectRequestWith pending notHere
  where
    request = WebSockets.pendingRequest pending
    gone :: WebSockets.ConnectionException -> IO ()
    gone _ = pure ()
    notHere = WebSockets.defaultRejectRequest { WebSockets.rejectCode = 404 }

beat :: WebSockets.Connection -> Int -> IO ()
beat connection every =
  forever (WebSockets.sendTextData connection ("tick" :: Text) >> threadDelay every)

giveBack :: WebSockets.Connection -> IO ()
giveBack connection =
  WebSockets.receiveDataMessage connection >>= WebSockets.sendDataMessage connection

-- | A path's number of seconds, if it is one.
microseconds :: Text -> Maybe Int
microseconds period = case Text.decimal period of
  Right (seconds, "") | seconds > 0 -> Just (seconds * 1000000)
  _ -> Nothing
