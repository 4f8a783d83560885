"""Generated from openapi/v1.json by `python3 -m generate`. Do not edit."""

from __future__ import annotations

from .errors import ApiError


class InvalidJsonError(ApiError):
    """`invalid_json`"""


class MalformedRequestError(ApiError):
    """`malformed_request`"""


class ValidationFailedError(ApiError):
    """`validation_failed`"""


class UnauthorizedError(ApiError):
    """`unauthorized`"""


class WrongCredentialsError(ApiError):
    """`wrong_credentials`"""


class WrongTotpError(ApiError):
    """`wrong_totp`"""


class InsufficientFundsError(ApiError):
    """`insufficient_funds`"""


class BudgetExceededError(ApiError):
    """`budget_exceeded`"""


class MissingScopeError(ApiError):
    """`missing_scope`"""


class AccountRequiredError(ApiError):
    """`account_required`"""


class InProjectError(ApiError):
    """`in_project`"""


class TwoFactorRequiredError(ApiError):
    """`two_factor_required`"""


class OriginNotAllowedError(ApiError):
    """`origin_not_allowed`"""


class HttpsRequiredError(ApiError):
    """`https_required`"""


class OperatorOnlyError(ApiError):
    """`operator_only`"""


class ReauthenticationRequiredError(ApiError):
    """`reauthentication_required`"""


class IdentityRefusedError(ApiError):
    """`identity_refused`"""


class SignUpClosedError(ApiError):
    """`sign_up_closed`"""


class NotFoundError(ApiError):
    """`not_found`"""


class MethodNotAllowedError(ApiError):
    """`method_not_allowed`"""


class RequestTimeoutError(ApiError):
    """`request_timeout`"""


class BusyError(ApiError):
    """`busy`"""


class InvalidStateError(ApiError):
    """`invalid_state`"""


class VersionConflictError(ApiError):
    """`version_conflict`"""


class ProtectedError(ApiError):
    """`protected`"""


class InUseError(ApiError):
    """`in_use`"""


class AlreadyExistsError(ApiError):
    """`already_exists`"""


class NetworksOverlapError(ApiError):
    """`networks_overlap`"""


class NetworksLostError(ApiError):
    """`networks_lost`"""


class IdempotencyInProgressError(ApiError):
    """`idempotency_in_progress`"""


class LinkGoneError(ApiError):
    """`link_gone`"""


class PayloadTooLargeError(ApiError):
    """`payload_too_large`"""


class UnsupportedMediaTypeError(ApiError):
    """`unsupported_media_type`"""


class IdempotencyKeyReusedError(ApiError):
    """`idempotency_key_reused`"""


class TooManyIdempotencyKeysError(ApiError):
    """`too_many_idempotency_keys`"""


class PlanNotLargerError(ApiError):
    """`plan_not_larger`"""


class UnavailableError(ApiError):
    """`unavailable`"""


class IncompatibleError(ApiError):
    """`incompatible`"""


class QuotaExceededError(ApiError):
    """`quota_exceeded`"""


class RegionMismatchError(ApiError):
    """`region_mismatch`"""


class UrlNotAllowedError(ApiError):
    """`url_not_allowed`"""


class RateLimitedError(ApiError):
    """`rate_limited`"""


class HeadersTooLargeError(ApiError):
    """`headers_too_large`"""


class InternalError(ApiError):
    """`internal_error`"""


class NoCapacityError(ApiError):
    """`no_capacity`"""


class ServiceUnavailableError(ApiError):
    """`service_unavailable`"""


BY_CODE: dict[str, type[ApiError]] = {
    "invalid_json": InvalidJsonError,
    "malformed_request": MalformedRequestError,
    "validation_failed": ValidationFailedError,
    "unauthorized": UnauthorizedError,
    "wrong_credentials": WrongCredentialsError,
    "wrong_totp": WrongTotpError,
    "insufficient_funds": InsufficientFundsError,
    "budget_exceeded": BudgetExceededError,
    "missing_scope": MissingScopeError,
    "account_required": AccountRequiredError,
    "in_project": InProjectError,
    "two_factor_required": TwoFactorRequiredError,
    "origin_not_allowed": OriginNotAllowedError,
    "https_required": HttpsRequiredError,
    "operator_only": OperatorOnlyError,
    "reauthentication_required": ReauthenticationRequiredError,
    "identity_refused": IdentityRefusedError,
    "sign_up_closed": SignUpClosedError,
    "not_found": NotFoundError,
    "method_not_allowed": MethodNotAllowedError,
    "request_timeout": RequestTimeoutError,
    "busy": BusyError,
    "invalid_state": InvalidStateError,
    "version_conflict": VersionConflictError,
    "protected": ProtectedError,
    "in_use": InUseError,
    "already_exists": AlreadyExistsError,
    "networks_overlap": NetworksOverlapError,
    "networks_lost": NetworksLostError,
    "idempotency_in_progress": IdempotencyInProgressError,
    "link_gone": LinkGoneError,
    "payload_too_large": PayloadTooLargeError,
    "unsupported_media_type": UnsupportedMediaTypeError,
    "idempotency_key_reused": IdempotencyKeyReusedError,
    "too_many_idempotency_keys": TooManyIdempotencyKeysError,
    "plan_not_larger": PlanNotLargerError,
    "unavailable": UnavailableError,
    "incompatible": IncompatibleError,
    "quota_exceeded": QuotaExceededError,
    "region_mismatch": RegionMismatchError,
    "url_not_allowed": UrlNotAllowedError,
    "rate_limited": RateLimitedError,
    "headers_too_large": HeadersTooLargeError,
    "internal_error": InternalError,
    "no_capacity": NoCapacityError,
    "service_unavailable": ServiceUnavailableError,
}

__all__ = [
    "InvalidJsonError",
    "MalformedRequestError",
    "ValidationFailedError",
    "UnauthorizedError",
    "WrongCredentialsError",
    "WrongTotpError",
    "InsufficientFundsError",
    "BudgetExceededError",
    "MissingScopeError",
    "AccountRequiredError",
    "InProjectError",
    "TwoFactorRequiredError",
    "OriginNotAllowedError",
    "HttpsRequiredError",
    "OperatorOnlyError",
    "ReauthenticationRequiredError",
    "IdentityRefusedError",
    "SignUpClosedError",
    "NotFoundError",
    "MethodNotAllowedError",
    "RequestTimeoutError",
    "BusyError",
    "InvalidStateError",
    "VersionConflictError",
    "ProtectedError",
    "InUseError",
    "AlreadyExistsError",
    "NetworksOverlapError",
    "NetworksLostError",
    "IdempotencyInProgressError",
    "LinkGoneError",
    "PayloadTooLargeError",
    "UnsupportedMediaTypeError",
    "IdempotencyKeyReusedError",
    "TooManyIdempotencyKeysError",
    "PlanNotLargerError",
    "UnavailableError",
    "IncompatibleError",
    "QuotaExceededError",
    "RegionMismatchError",
    "UrlNotAllowedError",
    "RateLimitedError",
    "HeadersTooLargeError",
    "InternalError",
    "NoCapacityError",
    "ServiceUnavailableError",
]
