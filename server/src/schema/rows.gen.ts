// The rows of all tables and views. Generated from the migrations by `npm run db:types`: do not edit.
// A column that a check constraint limits to a list is typed as that list. jsonb is unknown here, but for labels: who reads it says what it holds.

/** A row of this table or view. */
export type Row<Name extends keyof Tables> = Tables[Name]

export interface Tables {
  account_quotas: {
    account_id: string
    name: string
    used: bigint
    limit_override: bigint | null
  }
  account_visits: {
    id: string
    user_id: string
    session_id: string | null
    account_id: string
    reason: string
    started_at: Date
    ends_at: Date
    writes_since: Date | null
    writes_reason: string | null
    ended_at: Date | null
  }
  accounts: {
    id: string
    email: string | null
    name: string
    suspended_at: Date | null
    suspension_reason: string | null
    created_at: Date
    requires_totp: boolean
    payer_account_id: string | null
    deleted_at: Date | null
  }
  address_history: {
    id: bigint
    address: string
    vm_id: string
    vm_name: string
    account_id: string
    email: string
    address_id: string | null
    since: Date
    until: Date | null
  }
  address_periods: {
    address_id: string
    started_at: Date
    ends_at: Date
    transaction_id: string
  }
  address_pools: {
    id: string
    region_id: string
    host_id: string | null
    cidr: string
    gateway: string
    dns: string[]
    created_at: Date
  }
  addresses: {
    id: string
    account_id: string
    region_id: string
    name: string
    address: string
    pool_id: string
    vm_id: string | null
    releasing_vm_id: string | null
    guest_state: 'PENDING' | 'CONFIGURED' | 'MANUAL' | null
    guest_reason: string | null
    guest_due_at: Date | null
    billing_status: 'ACTIVE' | 'PAST_DUE' | 'SUSPENDED'
    renewal_day: number
    period_started_at: Date
    period_price_cents: bigint
    next_renewal_at: Date
    past_due_at: Date | null
    created_at: Date
    updated_at: Date
    left_at: Date | null
    labels: Record<string, string>
  }
  alert_firings: {
    alert_id: string
    vm_id: string
    vm_name: string
    vm_labels: unknown
    value: number
    fired_at: Date
    resolved_at: Date | null
  }
  alert_minutes: {
    is_only: boolean
    minute: Date
  }
  alerts: {
    id: string
    account_id: string
    name: string
    metric: string
    comparison: 'ABOVE' | 'BELOW'
    threshold: number
    for_minutes: number | null
    vm_ids: string[] | null
    label_selector: string | null
    labels: Record<string, string>
    created_at: Date
    updated_at: Date
  }
  announcements: {
    id: string
    level: 'INFO' | 'WARNING' | 'CRITICAL'
    text: string
    region_id: string | null
    starts_at: Date
    ends_at: Date | null
    withdrawn_at: Date | null
    created_at: Date
  }
  api_tokens: {
    id: string
    account_id: string
    name: string
    prefix: string
    hash: Buffer
    scopes: string[]
    requests_per_minute: number
    allowed_ips: string[]
    expires_at: Date | null
    revoked_at: Date | null
    last_used_at: Date | null
    last_used_ip: string | null
    created_at: Date
    ancestor_ids: string[]
    created_by: string | null
  }
  audit_log: {
    account_id: string
    created_at: Date
    id: string
    actor_type: 'token' | 'person' | 'operator' | 'system'
    actor_id: string | null
    actor_name: string
    ip: string | null
    action: string
    method: string | null
    route: string | null
    resource_ids: string[]
    status: number | null
    code: string | null
    request_id: string | null
    count: number
    person_id: string | null
    person_name: string | null
    resource: string | null
    resource_name: string | null
    changes: unknown
  }
  backup_policies: {
    vm_id: string
    hour: number | null
    keep_daily: number
    keep_weekly: number
    keep_monthly: number
  }
  backup_proof_times: {
    vm_id: string
    next_at: Date
  }
  backup_proofs: {
    id: string
    backup_id: string
    vm_id: string
    host_id: string
    run_id: string
    vcpu: number
    ram_mib: number
    disk_gib: number
    started_at: Date
  }
  backup_repositories: {
    id: string
    target_id: string
    vm_id: string
    sweep_at: Date | null
    claimed_until: Date | null
    created_at: Date
    locked_bytes: bigint
    account_id: string | null
    locked_gib: number
    locked_until: Date | null
  }
  backup_schedules: {
    vm_id: string
    next_at: Date
    failures: number
    hour: number | null
    done_at: Date | null
  }
  backup_screenshots: {
    backup_id: string
    taken_at: Date
    png: Buffer
  }
  backup_targets: {
    id: string
    region_id: string
    kind: string
    endpoint: string
    bucket: string
    prefix: string
    region_name: string
    access_key: string
    secret_key: Buffer
    bandwidth_mib: number | null
    lock_days: number | null
    created_at: Date
  }
  backups: {
    id: string
    vm_id: string
    account_id: string
    host_id: string | null
    os_template_id: string
    name: string
    type: 'DAILY' | 'MANUAL'
    status: 'PENDING' | 'RUNNING' | 'AVAILABLE' | 'RESTORING' | 'DELETING' | 'FAILED'
    parent_id: string | null
    depth: number
    size_bytes: bigint
    checksum: string | null
    run_id: string
    started_at: Date | null
    completed_at: Date | null
    expires_at: Date | null
    error: string | null
    delete_reason: string | null
    is_tombstone: boolean
    next_try_at: Date | null
    missing_since: Date | null
    created_at: Date
    counted_gib: number
    price_cents: bigint
    staging_host_id: string | null
    consistency: 'FILESYSTEM' | 'CRASH' | null
    target_id: string | null
    disk_gib: number | null
    is_extra: boolean
    verification: 'BOOTED' | 'RUNNING' | 'FAILED' | null
    verified_at: Date | null
    verification_error: string | null
    restore_seconds: number | null
    boot_seconds: number | null
    labels: Record<string, string>
  }
  bandwidth_baselines: {
    vm_id: string
    mac: string
    epoch: string
    received_bytes: bigint
    sent_bytes: bigint
    tick: bigint
    used_bytes: bigint
  }
  branding: {
    one: boolean
    settings: unknown
    changed_at: Date
  }
  branding_images: {
    name: 'logo' | 'logo-dark' | 'favicon'
    hash: string
    type: string
    bytes: Buffer
  }
  budget_entries: {
    subject_type: 'TOKEN' | 'MEMBER' | 'PROJECT'
    subject_id: string
    month: Date
    number: number
    account_id: string
    reference_id: string
    kind: 'CHARGE' | 'RENEWAL' | 'REFUND'
    cents: bigint
    used_after_cents: bigint
    limit_cents: bigint | null
    created_at: Date
  }
  budget_resources: {
    subject_type: 'TOKEN' | 'MEMBER' | 'PROJECT'
    subject_id: string
    vm_id: string | null
    volume_id: string | null
    address_id: string | null
    image_id: string | null
    reference_id: string
    vms_after: number | null
    max_vms: number | null
  }
  budgets: {
    subject_type: 'TOKEN' | 'MEMBER' | 'INVITATION' | 'PROJECT'
    subject_id: string
    account_id: string
    monthly_cents: bigint | null
    max_vms: number | null
    label_selector: string | null
  }
  catalog_values: {
    name: string
    value: bigint
  }
  charged_resources: {
    id: string | null
    account_id: string | null
    type: string | null
    name: string | null
    labels: Record<string, string>
    is_deleted: boolean | null
  }
  console_sessions: {
    vm_id: string
    type: 'serial' | 'vnc'
    id: string
    account_id: string
    opened_at: Date
    alive_until: Date
  }
  console_tokens: {
    secret_hash: Buffer
    vm_id: string
    account_id: string
    actor_id: string
    type: 'serial' | 'vnc'
    expires_at: Date
    used_at: Date | null
  }
  control_plane_backups: {
    target_id: string
    keep_days: number | null
    next_at: Date
    claimed_until: Date | null
    upload_id: string | null
    done_at: Date | null
    error: string | null
    created_at: Date
  }
  counters: {
    key: string
    count: number
    ends_at: Date
  }
  cpu_pins: {
    host_id: string
    cpu: number
    vm_id: string
    vcpu: number
  }
  dashboard_assets: {
    path: string
    bytes: Buffer
    used_at: Date
  }
  deleted_resources: {
    id: string
    account_id: string
    type: 'VM' | 'VOLUME' | 'IMAGE' | 'ADDRESS'
    name: string
    labels: Record<string, string>
  }
  drain_moves: {
    run_id: string
    drain_id: string
    vm_id: string
    vm_name: string
  }
  drains: {
    id: string
    host_id: string
    status: 'RUNNING' | 'COMPLETED' | 'INCOMPLETE' | 'CANCELLED'
    stops_others: boolean
    concurrency: number
    vm_count: number
    remaining: unknown
    created_at: Date
    ended_at: Date | null
  }
  emails: {
    id: string
    account_id: string
    event_id: string
    recipient: string
    message_id: string | null
    status: 'PENDING' | 'SENT' | 'FAILED' | 'DISCARDED'
    attempts: number
    claims: number
    next_attempt_at: Date | null
    claimed_until: Date | null
    error: string | null
    created_at: Date
    completed_at: Date | null
  }
  event_counters: {
    account_id: string
    last_number: bigint
  }
  events: {
    account_id: string
    number: bigint
    id: string
    type: string
    subject_id: string | null
    data: unknown
    created_at: Date
  }
  failed_imports: {
    image_id: string
    account_id: string
    bytes: bigint
    failed_at: Date
  }
  failed_recoveries: {
    vm_id: string
    source_id: string
    failures: number
    next_attempt_at: Date
  }
  firewall_bindings: {
    firewall_id: string
    vm_id: string
    account_id: string
    position: number
    created_at: Date
  }
  firewall_rules: {
    id: string
    firewall_id: string
    position: number
    direction: 'IN' | 'OUT'
    action: 'ACCEPT' | 'DROP' | 'REJECT'
    protocol: 'TCP' | 'UDP' | 'ICMP' | 'ICMPV6' | 'ANY'
    port: string | null
    source_ips: string[]
    dest_ips: string[]
    description: string
    created_at: Date
    updated_at: Date
  }
  firewall_undos: {
    firewall_id: string
    rules: unknown
    version_after: string
    undo_until: Date
    confirm_by: Date | null
    failures: number
    next_try_at: Date | null
  }
  firewalls: {
    id: string
    account_id: string
    name: string
    description: string
    created_at: Date
    updated_at: Date
    covers_private: boolean
    labels: Record<string, string>
  }
  free_addresses: {
    address: string
    pool_id: string
    available_at: Date
    account_id: string | null
    vm_account_id: string | null
  }
  guest_routes: {
    vm_id: string
    version: string
    is_told: boolean
    wanted_at: Date
    due_at: Date
  }
  host_blocks: {
    host_id: string
    storage_id: string
    client: string
  }
  host_certificates: {
    host_id: string
    kind: 'LIBVIRT' | 'CHASSIS'
    subject: string
    issuer: string
    expires_at: Date
    seen_at: Date
  }
  host_chassis: {
    host_id: string
    name: string
    encaps: unknown
    ports: number
    confirmed_at: Date | null
    seen_at: Date
  }
  host_enrollments: {
    id: string
    region_id: string
    name: string
    address: string
    uplink: string | null
    token_hash: Buffer
    sealed_bundle: Buffer | null
    range: string
    gateway: string
    created_at: Date
    expires_at: Date
    fetched_at: Date | null
    checks: unknown
    checked_at: Date | null
    joined_at: Date | null
    host_id: string | null
    revoked_at: Date | null
    is_cleaned: boolean
  }
  host_fences: {
    host_id: string
    requested_at: Date
    recovers: boolean
    means: string[]
    error: string | null
    next_attempt_at: Date
  }
  host_paths: {
    host_id: string
    path: 'CHASSIS' | 'STORAGE'
    seen_at: Date | null
    silent_since: Date | null
    problem: string | null
  }
  host_storage_clients: {
    host_id: string
    storage_id: string
    owner_id: string
    address: string
    nonce: bigint
    is_certain: boolean
    seen_at: Date
  }
  hosts: {
    id: string
    region_id: string
    name: string
    driver: 'libvirt' | 'simulated'
    uri: string
    arch: string | null
    acceleration: 'kvm' | 'emulation' | null
    vcpu_total: number
    ram_total_mib: number
    disk_total_gib: number
    vcpu_overcommit: number
    vcpu_used: number
    ram_used_mib: number
    disk_used_gib: number
    maintenance: boolean
    last_seen_at: Date | null
    unreachable_since: Date | null
    reachable_since: Date | null
    removed_at: Date | null
    created_at: Date
    disk_reserve_percent: number
    disk_reserve_gib: number
    disk_free_gib: number | null
    uplink_mbps: number | null
    hostname: string
    lost_at: Date | null
    power_url: string | null
    power_user: string | null
    sealed_power_password: Buffer | null
    power_ca: string | null
    fenced_at: Date | null
    disk_restoring_gib: number
    traits: string[]
    ram_overcommit: number
    cpu_nodes: number[] | null
    dedicated_cpus: number[]
    cpus_version: number
    cpus_applied: number
    vcpu_sellable: number
    ram_sellable_mib: number
    all_traits: string[]
    power_system_uuid: string | null
    guest_types: string[] | null
  }
  idempotency_keys: {
    account_id: string
    key: string
    fingerprint: Buffer
    status: number
    body: Buffer
    location: string | null
    created_at: Date
    expires_at: Date
  }
  idempotency_usage: {
    account_id: string
    keys: number
    bytes: bigint
  }
  identities: {
    id: string
    provider_id: string
    subject: string
    user_id: string
    label: string
    created_at: Date
    last_used_at: Date
  }
  identity_flows: {
    id: string
    kind: 'SIGN_IN' | 'LINK' | 'REAUTHENTICATE' | 'CODE'
    provider_id: string
    state_hash: Buffer | null
    browser_hash: Buffer
    secret: Buffer | null
    redirect_uri: string
    user_id: string | null
    session_id: string | null
    identity_id: string | null
    authenticated_at: Date | null
    created_at: Date
    expires_at: Date
  }
  identity_mails: {
    id: string
    user_id: string
    kind: 'LINKED' | 'UNLINKED' | 'REMOVED' | 'LAST_REMOVED'
    provider_title: string
    label: string
    link_base: string
    attempts: number
    due_at: Date
    created_at: Date
  }
  identity_providers: {
    id: string
    name: string
    title: string
    issuer: string
    client_id: string
    client_secret: Buffer
    is_second_factor: boolean
    metadata: unknown
    discovered_at: Date
    discovery_error: string | null
    created_at: Date
  }
  image_copies: {
    image_id: string
    target_id: string
    run_id: string | null
    stored_at: Date | null
    checksum: string | null
    renew_at: Date | null
    next_try_at: Date | null
    error: string | null
    locked_bytes: bigint
    created_at: Date
  }
  image_periods: {
    image_id: string
    started_at: Date
    ends_at: Date
    transaction_id: string
  }
  image_rooms: {
    image_id: string
    host_id: string
    gib: number
  }
  image_storage_rooms: {
    image_id: string
    storage_id: string
    gib: number
  }
  images: {
    id: string
    account_id: string
    name: string
    labels: Record<string, string>
    kind: 'DISK' | 'ISO'
    status: 'CREATING' | 'AVAILABLE' | 'FAILED' | 'DELETING'
    reason: string | null
    is_protected: boolean
    source_type: 'VM' | 'SNAPSHOT' | 'BACKUP' | 'URL'
    source: string
    vm_id: string | null
    run_id: string
    size_bytes: bigint
    disk_gib: number | null
    checksum: string
    consistency: 'FILESYSTEM' | 'CRASH' | null
    counted_gib: number
    staging_host_id: string | null
    staging_gib: number
    next_try_at: Date | null
    billing_status: 'ACTIVE' | 'PAST_DUE' | 'SUSPENDED'
    renewal_day: number | null
    period_started_at: Date | null
    period_price_cents: bigint | null
    next_renewal_at: Date | null
    past_due_at: Date | null
    created_at: Date
    updated_at: Date
    received_bytes: bigint
  }
  invariant_status: {
    is_only: boolean
    violations: number
  }
  invitations: {
    id: string
    account_id: string
    email: string
    role: 'owner' | 'admin' | 'operator' | 'billing' | 'read-only' | 'custom'
    scopes: string[]
    hash: Buffer
    invited_by: string | null
    inviter_name: string
    is_mailed: boolean
    link_base: string
    mail_attempts: number
    mail_due_at: Date | null
    status: 'OPEN' | 'ACCEPTED' | 'REVOKED' | 'EXPIRED'
    created_at: Date
    expires_at: Date
  }
  invoice_counter: {
    is_only: boolean
    last_number: number
  }
  invoices: {
    id: string
    account_id: string
    number: number
    month: Date
    first_entry: number
    last_entry: number
    currency: string
    opening_cents: bigint
    charged_cents: bigint
    paid_cents: bigint
    closing_cents: bigint
    seller: unknown
    customer: unknown
    issued_at: Date
  }
  ipv6_ranges: {
    range: string
    pool_id: string
    available_at: Date | null
  }
  join_tokens: {
    hash: Buffer
    sealed_key: Buffer | null
    created_at: Date
    expires_at: Date
    made_on: string | null
    used_at: Date | null
    used_on: string | null
    revoked_at: Date | null
  }
  known_ips: {
    user_id: string
    address: string
    last_used_at: Date
  }
  low_balance_warnings: {
    account_id: string
    warned_at: Date
  }
  maintenance_accounts: {
    maintenance_id: string
    account_id: string
  }
  maintenances: {
    id: string
    host_id: string
    text: string
    starts_at: Date
    ends_at: Date
    cancelled_at: Date | null
    created_at: Date
  }
  master_key: {
    is_only: boolean
    fingerprint: Buffer
  }
  members: {
    account_id: string
    user_id: string
    role: 'owner' | 'admin' | 'operator' | 'billing' | 'read-only' | 'custom'
    scopes: string[]
    created_at: Date
  }
  metrics_15m: {
    vm_id: string
    at: Date
    rate_samples: number
    ram_samples: number
    cpu_percent: number | null
    cpu_percent_max: number | null
    ram_used_mib: number | null
    ram_used_mib_max: number | null
    ram_mib: number
    disk_read_rate: number | null
    disk_read_rate_max: number | null
    disk_write_rate: number | null
    disk_write_rate_max: number | null
    network_in_rate: number | null
    network_in_rate_max: number | null
    network_out_rate: number | null
    network_out_rate_max: number | null
    cpu_steal_samples: number
    disk_request_samples: number
    disk_wait_samples: number
    cpu_steal_percent: number | null
    cpu_steal_percent_max: number | null
    disk_request_rate: number | null
    disk_request_rate_max: number | null
    disk_wait_ms: number | null
    disk_wait_ms_max: number | null
  }
  metrics_1m: {
    vm_id: string
    at: Date
    cpu_percent: number | null
    ram_used_mib: number | null
    ram_mib: number
    disk_read_rate: number | null
    disk_write_rate: number | null
    network_in_rate: number | null
    network_out_rate: number | null
  }
  metrics_counters: {
    host_id: string
    sampled_at: Date
    counters: string
  }
  metrics_latest: {
    vm_id: string
    sampled_at: Date
    epoch: string
    cpu_ns: bigint
    disk_read_bytes: bigint
    disk_written_bytes: bigint
    received_bytes: bigint
    sent_bytes: bigint
  }
  metrics_minutes: {
    host_id: string
    at: Date
    points: Buffer
    waits: Buffer | null
  }
  metrics_rollup: {
    is_only: boolean
    until: Date
    minutes_until: Date | null
  }
  metrics_sample_claims: {
    host_id: string
    minute: Date
  }
  metrics_samples: {
    host_id: string
    sampled_at: Date
    counters: Buffer
    waits: Buffer | null
    waits_at: Date | null
  }
  metrics_slots: {
    host_id: string
    slot: number
    vm_id: string
    since: Date
    left_at: Date | null
  }
  network_attachments: {
    network_id: string
    vm_id: string
    account_id: string
    mac: string
    address: string
    number: bigint
  }
  network_peerings: {
    id: string
    network_id: string
    peer_id: string
    account_id: string
    region_id: string
    created_at: Date
  }
  network_routes: {
    id: string
    network_id: string
    destination: string
    next_hop: string
    created_at: Date
  }
  networks: {
    id: string
    account_id: string
    region_id: string
    name: string
    cidr: string
    gateway: string | null
    enable_snat: boolean
    enable_dhcp: boolean
    last_address: string | null
    is_applied: boolean
    claimed_until: Date | null
    next_try_at: Date | null
    deleted_at: Date | null
    created_at: Date
    updated_at: Date
    snat_address: string | null
    version: number
    labels: Record<string, string>
  }
  one_time_links: {
    hash: Buffer
    kind: 'welcome' | 'password' | 'sign_up'
    user_id: string | null
    created_at: Date
    expires_at: Date
    email: string | null
    name: string | null
  }
  orphan_images: {
    storage_id: string
    vm_id: string
    first_seen_at: Date
    last_seen_at: Date
  }
  orphan_volumes: {
    host_id: string
    kind: 'disk' | 'seed' | 'snapshot' | 'backup' | 'template' | 'volume' | 'iso'
    id: string
    vm_id: string | null
    generation: number
    size_bytes: bigint
    is_old_disk: boolean
    first_seen_at: Date
    last_seen_at: Date
  }
  os_templates: {
    id: string
    slug: string
    name: string
    version: string
    distribution: string
    arch: string
    min_disk_gib: number
    min_ram_mib: number
    default_user: string
    cloud_init: boolean
    has_agent: boolean
    size_bytes: bigint
    virtual_bytes: bigint
    checksum: string
    recipe: string | null
    image_url: string | null
    origin: string
    imported_at: Date | null
    available: boolean
    deprecated_at: Date | null
    position: number
    created_at: Date
    account_id: string | null
    firmware: 'bios' | 'uefi' | 'secure-boot' | null
    tpm: boolean
    guest_types: string[]
  }
  payment_events: {
    id: string
    provider: string
    type: string
    object_id: string
    intent_id: string | null
    change: unknown
    payment_id: string | null
    received_at: Date
  }
  payments: {
    id: string
    account_id: string
    provider: 'manual' | 'stripe'
    status: 'PENDING' | 'PROCESSING' | 'SUCCEEDED' | 'FAILED' | 'EXPIRED'
    amount_cents: bigint
    currency: string
    session_id: string | null
    intent_id: string | null
    checkout_url: string | null
    instructions: string | null
    received_cents: bigint | null
    refunded_cents: bigint
    disputed_cents: bigint
    reversed_cents: bigint
    transaction_id: string | null
    created_at: Date
    updated_at: Date
  }
  pki_files: {
    name: string
    sealed: Buffer
    changed_at: Date
  }
  placement_group_members: {
    vm_id: string
    group_id: string
  }
  placement_groups: {
    id: string
    account_id: string
    name: string
    policy: 'SPREAD' | 'STRICT_SPREAD' | 'TOGETHER'
    created_at: Date
    labels: Record<string, string>
  }
  plans: {
    id: string
    slug: string
    name: string
    vcpu: number
    ram_mib: number
    disk_gib: number
    bandwidth_gb: number
    network_mbps: number
    throttle_mbps: number
    price_cents: bigint
    available: boolean
    is_default: boolean
    region_slugs: string[] | null
    position: number
    created_at: Date
    disk_iops: number | null
    disk_mib_per_second: number | null
    storage: 'LOCAL' | 'REPLICATED'
    dedicated_cpu: boolean
    traits: string[]
  }
  recovery_codes: {
    user_id: string
    hash: Buffer
    created_at: Date
  }
  regions: {
    id: string
    slug: string
    name: string
    country: string
    city: string
    flag: string
    available: boolean
    position: number
    created_at: Date
    network_controller: string | null
    lost_after_seconds: number
    auto_recovery: boolean
  }
  renewals: {
    vm_id: string
    period_started_at: Date
    period_ends_at: Date
    transaction_id: string
  }
  restore_rooms: {
    run_id: string
    purpose: 'COPY' | 'DISK'
    host_id: string | null
    storage_id: string | null
    gib: number
  }
  reverse_names: {
    address: string
    account_id: string
    name: string | null
    version: number
    state: 'PENDING' | 'SET' | 'FAILED'
    error: string | null
    claimed_until: Date | null
    next_try_at: Date | null
    updated_at: Date
  }
  sessions: {
    id: string
    hash: Buffer
    previous_hash: Buffer | null
    previous_until: Date | null
    user_id: string
    authenticated_at: Date
    ip: string
    user_agent: string
    created_at: Date
    last_seen_at: Date
    expires_at: Date
    identity_id: string | null
    has_second_factor: boolean
  }
  shelved_disks: {
    id: string
    vm_id: string
    target_id: string
    checksum: string | null
    is_unwanted: boolean
    created_at: Date
  }
  snapshots: {
    id: string
    vm_id: string
    account_id: string
    os_template_id: string
    name: string
    description: string
    status: 'CREATING' | 'AVAILABLE' | 'RESTORING' | 'DELETING' | 'FAILED'
    size_bytes: bigint
    size_refreshed_at: Date | null
    missing_since: Date | null
    created_at: Date
    host_id: string | null
    counted_gib: number
    price_cents: bigint
    storage_id: string | null
    labels: Record<string, string>
  }
  ssh_key_uses: {
    ssh_key_id: string
    vm_id: string
  }
  ssh_keys: {
    id: string
    account_id: string
    name: string
    type: string
    fingerprint: string
    public_key: string
    created_at: Date
    labels: Record<string, string>
  }
  stale_machines: {
    host_id: string
    vm_id: string
    next_attempt_at: Date
    may_run: boolean
  }
  stale_nics: {
    host_id: string
    vm_id: string
    mac: string
  }
  storage_backends: {
    id: string
    region_id: string
    name: string
    kind: 'RBD' | 'SIMULATED'
    monitors: string[]
    pool: string
    user_name: string
    sealed_key: Buffer
    reserve_percent: number
    capacity_gib: number | null
    free_gib: number | null
    measured_at: Date | null
    unreachable_since: Date | null
    created_at: Date
    used_gib: number
    reserve_gib: number | null
    restoring_gib: number
  }
  template_imports: {
    id: string
    slug: string
    url: string
    doing: string
    created_at: Date
  }
  test_clock: {
    is_only: boolean
    ahead_ms: bigint
  }
  ticket_replies: {
    id: string
    ticket_id: string
    author: 'customer' | 'staff'
    body: string
    created_at: Date
  }
  tickets: {
    id: string
    account_id: string
    subject: string
    body: string
    status: 'OPEN' | 'ANSWERED' | 'CLOSED'
    reply_count: number
    created_at: Date
    updated_at: Date
    closed_at: Date | null
  }
  unconfirmed_releases: {
    address: string
    vm_id: string
    host_id: string
  }
  users: {
    id: string
    account_id: string | null
    email: string
    name: string
    password_hash: string | null
    is_operator: boolean
    totp_secret: Buffer | null
    totp_enabled_at: Date | null
    totp_step: bigint
    created_at: Date
    language: string | null
  }
  vm_details: {
    id: string
    account_id: string
    region_id: string
    host_id: string | null
    plan_id: string | null
    os_template_id: string
    uuid: string
    generation: number
    last_generation: number
    name: string
    hostname: string
    status: 'PROVISIONING' | 'RUNNING' | 'STOPPED' | 'SUSPENDED' | 'REBUILDING' | 'UPGRADING' | 'UNMANAGED' | 'ERROR'
    status_reason: string | null
    readiness: 'booting' | 'reachable'
    desired_running: boolean
    provisioned: boolean
    vcpu: number
    ram_mib: number
    disk_gib: number
    bandwidth_gb: number
    network_mbps: number
    throttle_mbps: number
    custom_price_cents: bigint | null
    network_10g: boolean
    network_10g_paid_until: Date | null
    daily_backup: boolean
    daily_backup_paid_until: Date | null
    is_protected: boolean
    ip_address: string | null
    address_pool_id: string | null
    mac: string | null
    billing_status: 'ACTIVE' | 'PAST_DUE' | 'SUSPENDED' | 'CANCELLED'
    renewal_day: number
    period_started_at: Date
    period_price_cents: bigint
    next_renewal_at: Date
    past_due_at: Date | null
    suspended_at: Date | null
    bandwidth_pack_bytes: bigint
    throttled_at: Date | null
    observed_power: string | null
    observed_at: Date | null
    event_sequence: number
    created_at: Date
    updated_at: Date
    region_slug: string
    region_name: string
    template_slug: string
    template_name: string
    template_version: string
    has_agent: boolean
    template_checksum: string
    default_user: string
    bandwidth_used_bytes: bigint
    plan_slug: string
    plan_name: string | null
    plan_price_cents: bigint | null
    renewal_price_cents: bigint | null
    copies_price_cents: bigint | null
    disk_iops: number | null
    disk_mib_per_second: number | null
    pending_hold: 'UNPAID' | 'SUSPEND' | 'UNMANAGE' | null
    bandwidth_withheld_bytes: bigint
    public_ipv4: boolean
    ipv6_address: string | null
    ipv6_prefix: string | null
    ipv6_pool_id: string | null
    storage: 'LOCAL' | 'REPLICATED'
    storage_id: string | null
    dedicated_cpu: boolean
    shelved_at: Date | null
    shelved_credit_cents: bigint | null
    shelved_price_cents: bigint | null
    template_arch: string
    labels: Record<string, string>
    host_unreachable_since: Date | null
    host_fenced_at: Date | null
  }
  vm_isos: {
    vm_id: string
    image_id: string
    attached_at: Date | null
    active: boolean
  }
  vm_ports: {
    vm_id: string
    host_id: string
    account_id: string
    desired_version: number
    applied_version: number | null
    applied_at: Date | null
    error: string | null
    is_managed: boolean
    claimed_until: Date | null
    next_try_at: Date | null
  }
  vm_rescues: {
    vm_id: string
    generation: number
    template_id: string
    gib: number
    host_id: string | null
    storage_id: string | null
    started_at: Date | null
    ends_at: Date | null
    next_attempt_at: Date | null
  }
  vm_user_data: {
    vm_id: string
    generation: number
    sealed: Buffer | null
    run_id: string
    status: 'PENDING' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'UNSUPPORTED' | 'UNKNOWN'
    seconds: number | null
    errors: string[]
    wanted_at: Date | null
    due_at: Date | null
  }
  vms: {
    id: string
    account_id: string
    region_id: string
    host_id: string | null
    plan_id: string | null
    os_template_id: string
    uuid: string
    generation: number
    last_generation: number
    name: string
    hostname: string
    status: 'PROVISIONING' | 'RUNNING' | 'STOPPED' | 'SUSPENDED' | 'REBUILDING' | 'UPGRADING' | 'UNMANAGED' | 'ERROR'
    status_reason: string | null
    readiness: 'booting' | 'reachable'
    desired_running: boolean
    provisioned: boolean
    vcpu: number
    ram_mib: number
    disk_gib: number
    bandwidth_gb: number
    network_mbps: number
    throttle_mbps: number
    custom_price_cents: bigint | null
    network_10g: boolean
    network_10g_paid_until: Date | null
    daily_backup: boolean
    daily_backup_paid_until: Date | null
    is_protected: boolean
    ip_address: string | null
    address_pool_id: string | null
    mac: string | null
    billing_status: 'ACTIVE' | 'PAST_DUE' | 'SUSPENDED' | 'CANCELLED'
    renewal_day: number
    period_started_at: Date
    period_price_cents: bigint
    next_renewal_at: Date
    past_due_at: Date | null
    suspended_at: Date | null
    bandwidth_pack_bytes: bigint
    throttled_at: Date | null
    observed_power: string | null
    observed_at: Date | null
    event_sequence: number
    created_at: Date
    updated_at: Date
    disk_iops: number | null
    disk_mib_per_second: number | null
    pending_hold: 'UNPAID' | 'SUSPEND' | 'UNMANAGE' | null
    bandwidth_withheld_bytes: bigint
    public_ipv4: boolean
    ipv6_address: string | null
    ipv6_prefix: string | null
    ipv6_pool_id: string | null
    storage: 'LOCAL' | 'REPLICATED'
    storage_id: string | null
    lost_at: Date | null
    dedicated_cpu: boolean
    shelved_at: Date | null
    shelved_credit_cents: bigint | null
    shelved_price_cents: bigint | null
    room_vcpu: number | null
    room_ram_mib: number | null
    labels: Record<string, string>
  }
  volume_periods: {
    volume_id: string
    started_at: Date
    ends_at: Date
    transaction_id: string
  }
  volume_snapshots: {
    id: string
    volume_id: string
    name: string
    description: string
    status: 'CREATING' | 'AVAILABLE' | 'RESTORING' | 'DELETING' | 'FAILED'
    size_gib: number
    size_bytes: bigint
    size_refreshed_at: Date | null
    counted_gib: number
    price_cents: bigint
    missing_since: Date | null
    created_at: Date
    labels: Record<string, string>
  }
  volumes: {
    id: string
    account_id: string
    region_id: string
    name: string
    labels: Record<string, string>
    is_protected: boolean
    size_gib: number
    storage: 'LOCAL' | 'REPLICATED'
    host_id: string | null
    storage_id: string | null
    has_data: boolean
    status: 'AVAILABLE' | 'ATTACHING' | 'ATTACHED' | 'DETACHING'
    vm_id: string | null
    vm_host_id: string | null
    run_id: string | null
    left_vm_id: string | null
    left_host_id: string | null
    billing_status: 'ACTIVE' | 'PAST_DUE' | 'SUSPENDED'
    renewal_day: number
    period_started_at: Date
    period_price_cents: bigint
    next_renewal_at: Date
    past_due_at: Date | null
    deleted_at: Date | null
    created_at: Date
    updated_at: Date
    generation: number
    last_generation: number
  }
  wallet_adjustments: {
    id: string
    account_id: string
    amount_cents: bigint
    reason: string
    created_at: Date
  }
  wallet_transactions: {
    id: string
    account_id: string
    number: number
    type: 'CREDIT' | 'DEPOSIT' | 'VM_CHARGE' | 'VM_RENEWAL' | 'VM_REFUND' | 'VM_UPGRADE' | 'ADDON_CHARGE' | 'BANDWIDTH_PACK' | 'ADJUSTMENT' | 'ADDRESS_CHARGE' | 'ADDRESS_RENEWAL' | 'ADDRESS_REFUND' | 'VOLUME_CHARGE' | 'VOLUME_UPGRADE' | 'VOLUME_RENEWAL' | 'VOLUME_REFUND' | 'IMAGE_CHARGE' | 'IMAGE_RENEWAL' | 'IMAGE_REFUND' | 'VM_UNSHELVE'
    amount_cents: bigint
    balance_after_cents: bigint
    description: string
    reference_type: 'VM' | 'PAYMENT' | 'ADMIN' | 'ADDRESS' | 'VOLUME' | 'IMAGE'
    reference_id: string
    created_at: Date
    project_id: string | null
    project_name: string | null
    price_parts: unknown
  }
  wallets: {
    account_id: string
    balance_cents: bigint
    transaction_count: number
  }
  webhook_attempts: {
    delivery_id: string
    number: number
    url: string
    signature: string
    status: number | null
    error: string | null
    response: string
    latency_ms: number
    attempted_at: Date
  }
  webhook_deliveries: {
    id: string
    webhook_id: string
    event_id: string | null
    type: string
    status: 'PENDING' | 'SUCCEEDED' | 'EXHAUSTED' | 'CANCELLED'
    attempts: number
    claims: number
    next_attempt_at: Date | null
    claimed_until: Date | null
    created_at: Date
    completed_at: Date | null
  }
  webhooks: {
    id: string
    account_id: string
    url: string
    events: string[]
    description: string
    is_active: boolean
    disabled_reason: string | null
    fail_count: number
    last_success_at: Date | null
    active_since: Date
    secret: Buffer
    previous_secret: Buffer | null
    previous_secret_until: Date | null
    created_at: Date
    updated_at: Date
    deleted_at: Date | null
    labels: Record<string, string>
    label_selector: string | null
    selector: unknown
  }
  worker_addresses: {
    address: string
    seen_at: Date
  }
  workflow_runs: {
    id: string
    name: string
    label: string
    owner_id: string | null
    subject_id: string | null
    input: unknown
    status: 'PENDING' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED'
    compensating: boolean
    cleanup_failed: boolean
    attempt: number
    progress: number
    error: string | null
    error_code: string | null
    next_attempt_at: Date
    lease_until: Date | null
    deadline_at: Date
    created_at: Date
    started_at: Date | null
    completed_at: Date | null
    trace_parent: string | null
    follow_up: unknown
  }
  workflow_steps: {
    run_id: string
    position: number
    name: string
    status: 'PENDING' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'UNDONE'
    tries: number
    result: unknown
    error: string | null
    started_at: Date | null
    completed_at: Date | null
  }
  'simulated.blocklist': {
    storage_id: string
    client: string
  }
  'simulated.faults': {
    id: bigint
    host_id: string
    verb: string
    kind: 'transient' | 'permanent' | 'guest_failed' | 'halfway' | 'lost_answer' | 'hang'
    calls: number
    first_call: number
    last_call: number
  }
  'simulated.hosts': {
    host_id: string
    disk_total_bytes: bigint
    disk_used_bytes: bigint
    is_full: boolean
    is_gone: boolean
  }
  'simulated.machine_volumes': {
    host_id: string
    machine: string
    volume_id: string
  }
  'simulated.machines': {
    host_id: string
    name: string
    vm_id: string | null
    account_id: string | null
    uuid: string
    generation: number | null
    vcpu: number
    ram_mib: number
    has_agent: boolean
    power: 'running' | 'stopped' | 'paused'
    stop_reason: 'user' | 'guest' | 'crash' | 'host' | null
    epoch: bigint
    started_at: Date | null
    booted_at: Date | null
    last_restart_id: string | null
    is_stuck: boolean
    disk_iops: number | null
    disk_mib_per_second: number | null
    cpus: number[] | null
    numa_node: number | null
    room_vcpu: number | null
    room_ram_mib: number | null
    routes: string[]
    dimms: number
    rescue_generation: number | null
    has_drive: boolean
    iso_id: string | null
    boots_iso: boolean
  }
  'simulated.networks': {
    region_id: string
    network_id: string
    spec: unknown
  }
  'simulated.nics': {
    host_id: string
    machine: string
    mac: string
    kind: 'public' | 'private'
    address: string | null
    limit_mbps: number | null
    epoch: bigint
    bytes_per_second: number
    received_bytes: bigint
    sent_bytes: bigint
    counted_at: Date | null
    ipv6: string | null
    floating: string[]
  }
  'simulated.ports': {
    region_id: string
    mac: string
    vm_id: string
    network_id: string | null
    host: string
    addresses: string[]
    limit_mbps: number | null
    filter: unknown
    ranges: string[]
    version: number
  }
  'simulated.volumes': {
    host_id: string
    name: string
    kind: 'disk' | 'seed' | 'snapshot' | 'backup' | 'template' | 'volume' | 'iso'
    id: string
    vm_id: string | null
    generation: number | null
    parent: string | null
    is_complete: boolean
    capacity_bytes: bigint
    size_bytes: bigint
    content: unknown
    checkpoints: string[]
    storage_id: string | null
  }
}

/** For `allColumns`. */
export const COLUMNS: Record<keyof Tables, string> = {
  account_quotas: 'account_id, name, used, limit_override',
  account_visits: 'id, user_id, session_id, account_id, reason, started_at, ends_at, writes_since, writes_reason, ended_at',
  accounts: 'id, email, name, suspended_at, suspension_reason, created_at, requires_totp, payer_account_id, deleted_at',
  address_history: 'id, address, vm_id, vm_name, account_id, email, address_id, since, until',
  address_periods: 'address_id, started_at, ends_at, transaction_id',
  address_pools: 'id, region_id, host_id, cidr, gateway, dns, created_at',
  addresses: 'id, account_id, region_id, name, address, pool_id, vm_id, releasing_vm_id, guest_state, guest_reason, guest_due_at, billing_status, renewal_day, period_started_at, period_price_cents, next_renewal_at, past_due_at, created_at, updated_at, left_at, labels',
  alert_firings: 'alert_id, vm_id, vm_name, vm_labels, value, fired_at, resolved_at',
  alert_minutes: 'is_only, minute',
  alerts: 'id, account_id, name, metric, comparison, threshold, for_minutes, vm_ids, label_selector, labels, created_at, updated_at',
  announcements: 'id, level, text, region_id, starts_at, ends_at, withdrawn_at, created_at',
  api_tokens: 'id, account_id, name, prefix, hash, scopes, requests_per_minute, allowed_ips, expires_at, revoked_at, last_used_at, last_used_ip, created_at, ancestor_ids, created_by',
  audit_log: 'account_id, created_at, id, actor_type, actor_id, actor_name, ip, action, method, route, resource_ids, status, code, request_id, count, person_id, person_name, resource, resource_name, changes',
  backup_policies: 'vm_id, hour, keep_daily, keep_weekly, keep_monthly',
  backup_proof_times: 'vm_id, next_at',
  backup_proofs: 'id, backup_id, vm_id, host_id, run_id, vcpu, ram_mib, disk_gib, started_at',
  backup_repositories: 'id, target_id, vm_id, sweep_at, claimed_until, created_at, locked_bytes, account_id, locked_gib, locked_until',
  backup_schedules: 'vm_id, next_at, failures, hour, done_at',
  backup_screenshots: 'backup_id, taken_at, png',
  backup_targets: 'id, region_id, kind, endpoint, bucket, prefix, region_name, access_key, secret_key, bandwidth_mib, lock_days, created_at',
  backups: 'id, vm_id, account_id, host_id, os_template_id, name, type, status, parent_id, depth, size_bytes, checksum, run_id, started_at, completed_at, expires_at, error, delete_reason, is_tombstone, next_try_at, missing_since, created_at, counted_gib, price_cents, staging_host_id, consistency, target_id, disk_gib, is_extra, verification, verified_at, verification_error, restore_seconds, boot_seconds, labels',
  bandwidth_baselines: 'vm_id, mac, epoch, received_bytes, sent_bytes, tick, used_bytes',
  branding: 'one, settings, changed_at',
  branding_images: 'name, hash, type, bytes',
  budget_entries: 'subject_type, subject_id, month, number, account_id, reference_id, kind, cents, used_after_cents, limit_cents, created_at',
  budget_resources: 'subject_type, subject_id, vm_id, volume_id, address_id, image_id, reference_id, vms_after, max_vms',
  budgets: 'subject_type, subject_id, account_id, monthly_cents, max_vms, label_selector',
  catalog_values: 'name, value',
  charged_resources: 'id, account_id, type, name, labels, is_deleted',
  console_sessions: 'vm_id, type, id, account_id, opened_at, alive_until',
  console_tokens: 'secret_hash, vm_id, account_id, actor_id, type, expires_at, used_at',
  control_plane_backups: 'target_id, keep_days, next_at, claimed_until, upload_id, done_at, error, created_at',
  counters: 'key, count, ends_at',
  cpu_pins: 'host_id, cpu, vm_id, vcpu',
  dashboard_assets: 'path, bytes, used_at',
  deleted_resources: 'id, account_id, type, name, labels',
  drain_moves: 'run_id, drain_id, vm_id, vm_name',
  drains: 'id, host_id, status, stops_others, concurrency, vm_count, remaining, created_at, ended_at',
  emails: 'id, account_id, event_id, recipient, message_id, status, attempts, claims, next_attempt_at, claimed_until, error, created_at, completed_at',
  event_counters: 'account_id, last_number',
  events: 'account_id, number, id, type, subject_id, data, created_at',
  failed_imports: 'image_id, account_id, bytes, failed_at',
  failed_recoveries: 'vm_id, source_id, failures, next_attempt_at',
  firewall_bindings: 'firewall_id, vm_id, account_id, position, created_at',
  firewall_rules: 'id, firewall_id, position, direction, action, protocol, port, source_ips, dest_ips, description, created_at, updated_at',
  firewall_undos: 'firewall_id, rules, version_after, undo_until, confirm_by, failures, next_try_at',
  firewalls: 'id, account_id, name, description, created_at, updated_at, covers_private, labels',
  free_addresses: 'address, pool_id, available_at, account_id, vm_account_id',
  guest_routes: 'vm_id, version, is_told, wanted_at, due_at',
  host_blocks: 'host_id, storage_id, client',
  host_certificates: 'host_id, kind, subject, issuer, expires_at, seen_at',
  host_chassis: 'host_id, name, encaps, ports, confirmed_at, seen_at',
  host_enrollments: 'id, region_id, name, address, uplink, token_hash, sealed_bundle, range, gateway, created_at, expires_at, fetched_at, checks, checked_at, joined_at, host_id, revoked_at, is_cleaned',
  host_fences: 'host_id, requested_at, recovers, means, error, next_attempt_at',
  host_paths: 'host_id, path, seen_at, silent_since, problem',
  host_storage_clients: 'host_id, storage_id, owner_id, address, nonce, is_certain, seen_at',
  hosts: 'id, region_id, name, driver, uri, arch, acceleration, vcpu_total, ram_total_mib, disk_total_gib, vcpu_overcommit, vcpu_used, ram_used_mib, disk_used_gib, maintenance, last_seen_at, unreachable_since, reachable_since, removed_at, created_at, disk_reserve_percent, disk_reserve_gib, disk_free_gib, uplink_mbps, hostname, lost_at, power_url, power_user, sealed_power_password, power_ca, fenced_at, disk_restoring_gib, traits, ram_overcommit, cpu_nodes, dedicated_cpus, cpus_version, cpus_applied, vcpu_sellable, ram_sellable_mib, all_traits, power_system_uuid, guest_types',
  idempotency_keys: 'account_id, key, fingerprint, status, body, location, created_at, expires_at',
  idempotency_usage: 'account_id, keys, bytes',
  identities: 'id, provider_id, subject, user_id, label, created_at, last_used_at',
  identity_flows: 'id, kind, provider_id, state_hash, browser_hash, secret, redirect_uri, user_id, session_id, identity_id, authenticated_at, created_at, expires_at',
  identity_mails: 'id, user_id, kind, provider_title, label, link_base, attempts, due_at, created_at',
  identity_providers: 'id, name, title, issuer, client_id, client_secret, is_second_factor, metadata, discovered_at, discovery_error, created_at',
  image_copies: 'image_id, target_id, run_id, stored_at, checksum, renew_at, next_try_at, error, locked_bytes, created_at',
  image_periods: 'image_id, started_at, ends_at, transaction_id',
  image_rooms: 'image_id, host_id, gib',
  image_storage_rooms: 'image_id, storage_id, gib',
  images: 'id, account_id, name, labels, kind, status, reason, is_protected, source_type, source, vm_id, run_id, size_bytes, disk_gib, checksum, consistency, counted_gib, staging_host_id, staging_gib, next_try_at, billing_status, renewal_day, period_started_at, period_price_cents, next_renewal_at, past_due_at, created_at, updated_at, received_bytes',
  invariant_status: 'is_only, violations',
  invitations: 'id, account_id, email, role, scopes, hash, invited_by, inviter_name, is_mailed, link_base, mail_attempts, mail_due_at, status, created_at, expires_at',
  invoice_counter: 'is_only, last_number',
  invoices: 'id, account_id, number, month, first_entry, last_entry, currency, opening_cents, charged_cents, paid_cents, closing_cents, seller, customer, issued_at',
  ipv6_ranges: 'range, pool_id, available_at',
  join_tokens: 'hash, sealed_key, created_at, expires_at, made_on, used_at, used_on, revoked_at',
  known_ips: 'user_id, address, last_used_at',
  low_balance_warnings: 'account_id, warned_at',
  maintenance_accounts: 'maintenance_id, account_id',
  maintenances: 'id, host_id, text, starts_at, ends_at, cancelled_at, created_at',
  master_key: 'is_only, fingerprint',
  members: 'account_id, user_id, role, scopes, created_at',
  metrics_15m: 'vm_id, at, rate_samples, ram_samples, cpu_percent, cpu_percent_max, ram_used_mib, ram_used_mib_max, ram_mib, disk_read_rate, disk_read_rate_max, disk_write_rate, disk_write_rate_max, network_in_rate, network_in_rate_max, network_out_rate, network_out_rate_max, cpu_steal_samples, disk_request_samples, disk_wait_samples, cpu_steal_percent, cpu_steal_percent_max, disk_request_rate, disk_request_rate_max, disk_wait_ms, disk_wait_ms_max',
  metrics_1m: 'vm_id, at, cpu_percent, ram_used_mib, ram_mib, disk_read_rate, disk_write_rate, network_in_rate, network_out_rate',
  metrics_counters: 'host_id, sampled_at, counters',
  metrics_latest: 'vm_id, sampled_at, epoch, cpu_ns, disk_read_bytes, disk_written_bytes, received_bytes, sent_bytes',
  metrics_minutes: 'host_id, at, points, waits',
  metrics_rollup: 'is_only, until, minutes_until',
  metrics_sample_claims: 'host_id, minute',
  metrics_samples: 'host_id, sampled_at, counters, waits, waits_at',
  metrics_slots: 'host_id, slot, vm_id, since, left_at',
  network_attachments: 'network_id, vm_id, account_id, mac, address, number',
  network_peerings: 'id, network_id, peer_id, account_id, region_id, created_at',
  network_routes: 'id, network_id, destination, next_hop, created_at',
  networks: 'id, account_id, region_id, name, cidr, gateway, enable_snat, enable_dhcp, last_address, is_applied, claimed_until, next_try_at, deleted_at, created_at, updated_at, snat_address, version, labels',
  one_time_links: 'hash, kind, user_id, created_at, expires_at, email, name',
  orphan_images: 'storage_id, vm_id, first_seen_at, last_seen_at',
  orphan_volumes: 'host_id, kind, id, vm_id, generation, size_bytes, is_old_disk, first_seen_at, last_seen_at',
  os_templates: 'id, slug, name, version, distribution, arch, min_disk_gib, min_ram_mib, default_user, cloud_init, has_agent, size_bytes, virtual_bytes, checksum, recipe, image_url, origin, imported_at, available, deprecated_at, position, created_at, account_id, firmware, tpm, guest_types',
  payment_events: 'id, provider, type, object_id, intent_id, change, payment_id, received_at',
  payments: 'id, account_id, provider, status, amount_cents, currency, session_id, intent_id, checkout_url, instructions, received_cents, refunded_cents, disputed_cents, reversed_cents, transaction_id, created_at, updated_at',
  pki_files: 'name, sealed, changed_at',
  placement_group_members: 'vm_id, group_id',
  placement_groups: 'id, account_id, name, policy, created_at, labels',
  plans: 'id, slug, name, vcpu, ram_mib, disk_gib, bandwidth_gb, network_mbps, throttle_mbps, price_cents, available, is_default, region_slugs, position, created_at, disk_iops, disk_mib_per_second, storage, dedicated_cpu, traits',
  recovery_codes: 'user_id, hash, created_at',
  regions: 'id, slug, name, country, city, flag, available, position, created_at, network_controller, lost_after_seconds, auto_recovery',
  renewals: 'vm_id, period_started_at, period_ends_at, transaction_id',
  restore_rooms: 'run_id, purpose, host_id, storage_id, gib',
  reverse_names: 'address, account_id, name, version, state, error, claimed_until, next_try_at, updated_at',
  sessions: 'id, hash, previous_hash, previous_until, user_id, authenticated_at, ip, user_agent, created_at, last_seen_at, expires_at, identity_id, has_second_factor',
  shelved_disks: 'id, vm_id, target_id, checksum, is_unwanted, created_at',
  snapshots: 'id, vm_id, account_id, os_template_id, name, description, status, size_bytes, size_refreshed_at, missing_since, created_at, host_id, counted_gib, price_cents, storage_id, labels',
  ssh_key_uses: 'ssh_key_id, vm_id',
  ssh_keys: 'id, account_id, name, type, fingerprint, public_key, created_at, labels',
  stale_machines: 'host_id, vm_id, next_attempt_at, may_run',
  stale_nics: 'host_id, vm_id, mac',
  storage_backends: 'id, region_id, name, kind, monitors, pool, user_name, sealed_key, reserve_percent, capacity_gib, free_gib, measured_at, unreachable_since, created_at, used_gib, reserve_gib, restoring_gib',
  template_imports: 'id, slug, url, doing, created_at',
  test_clock: 'is_only, ahead_ms',
  ticket_replies: 'id, ticket_id, author, body, created_at',
  tickets: 'id, account_id, subject, body, status, reply_count, created_at, updated_at, closed_at',
  unconfirmed_releases: 'address, vm_id, host_id',
  users: 'id, account_id, email, name, password_hash, is_operator, totp_secret, totp_enabled_at, totp_step, created_at, language',
  vm_details: 'id, account_id, region_id, host_id, plan_id, os_template_id, uuid, generation, last_generation, name, hostname, status, status_reason, readiness, desired_running, provisioned, vcpu, ram_mib, disk_gib, bandwidth_gb, network_mbps, throttle_mbps, custom_price_cents, network_10g, network_10g_paid_until, daily_backup, daily_backup_paid_until, is_protected, ip_address, address_pool_id, mac, billing_status, renewal_day, period_started_at, period_price_cents, next_renewal_at, past_due_at, suspended_at, bandwidth_pack_bytes, throttled_at, observed_power, observed_at, event_sequence, created_at, updated_at, region_slug, region_name, template_slug, template_name, template_version, has_agent, template_checksum, default_user, bandwidth_used_bytes, plan_slug, plan_name, plan_price_cents, renewal_price_cents, copies_price_cents, disk_iops, disk_mib_per_second, pending_hold, bandwidth_withheld_bytes, public_ipv4, ipv6_address, ipv6_prefix, ipv6_pool_id, storage, storage_id, dedicated_cpu, shelved_at, shelved_credit_cents, shelved_price_cents, template_arch, labels, host_unreachable_since, host_fenced_at',
  vm_isos: 'vm_id, image_id, attached_at, active',
  vm_ports: 'vm_id, host_id, account_id, desired_version, applied_version, applied_at, error, is_managed, claimed_until, next_try_at',
  vm_rescues: 'vm_id, generation, template_id, gib, host_id, storage_id, started_at, ends_at, next_attempt_at',
  vm_user_data: 'vm_id, generation, sealed, run_id, status, seconds, errors, wanted_at, due_at',
  vms: 'id, account_id, region_id, host_id, plan_id, os_template_id, uuid, generation, last_generation, name, hostname, status, status_reason, readiness, desired_running, provisioned, vcpu, ram_mib, disk_gib, bandwidth_gb, network_mbps, throttle_mbps, custom_price_cents, network_10g, network_10g_paid_until, daily_backup, daily_backup_paid_until, is_protected, ip_address, address_pool_id, mac, billing_status, renewal_day, period_started_at, period_price_cents, next_renewal_at, past_due_at, suspended_at, bandwidth_pack_bytes, throttled_at, observed_power, observed_at, event_sequence, created_at, updated_at, disk_iops, disk_mib_per_second, pending_hold, bandwidth_withheld_bytes, public_ipv4, ipv6_address, ipv6_prefix, ipv6_pool_id, storage, storage_id, lost_at, dedicated_cpu, shelved_at, shelved_credit_cents, shelved_price_cents, room_vcpu, room_ram_mib, labels',
  volume_periods: 'volume_id, started_at, ends_at, transaction_id',
  volume_snapshots: 'id, volume_id, name, description, status, size_gib, size_bytes, size_refreshed_at, counted_gib, price_cents, missing_since, created_at, labels',
  volumes: 'id, account_id, region_id, name, labels, is_protected, size_gib, storage, host_id, storage_id, has_data, status, vm_id, vm_host_id, run_id, left_vm_id, left_host_id, billing_status, renewal_day, period_started_at, period_price_cents, next_renewal_at, past_due_at, deleted_at, created_at, updated_at, generation, last_generation',
  wallet_adjustments: 'id, account_id, amount_cents, reason, created_at',
  wallet_transactions: 'id, account_id, number, type, amount_cents, balance_after_cents, description, reference_type, reference_id, created_at, project_id, project_name, price_parts',
  wallets: 'account_id, balance_cents, transaction_count',
  webhook_attempts: 'delivery_id, number, url, signature, status, error, response, latency_ms, attempted_at',
  webhook_deliveries: 'id, webhook_id, event_id, type, status, attempts, claims, next_attempt_at, claimed_until, created_at, completed_at',
  webhooks: 'id, account_id, url, events, description, is_active, disabled_reason, fail_count, last_success_at, active_since, secret, previous_secret, previous_secret_until, created_at, updated_at, deleted_at, labels, label_selector, selector',
  worker_addresses: 'address, seen_at',
  workflow_runs: 'id, name, label, owner_id, subject_id, input, status, compensating, cleanup_failed, attempt, progress, error, error_code, next_attempt_at, lease_until, deadline_at, created_at, started_at, completed_at, trace_parent, follow_up',
  workflow_steps: 'run_id, position, name, status, tries, result, error, started_at, completed_at',
  'simulated.blocklist': 'storage_id, client',
  'simulated.faults': 'id, host_id, verb, kind, calls, first_call, last_call',
  'simulated.hosts': 'host_id, disk_total_bytes, disk_used_bytes, is_full, is_gone',
  'simulated.machine_volumes': 'host_id, machine, volume_id',
  'simulated.machines': 'host_id, name, vm_id, account_id, uuid, generation, vcpu, ram_mib, has_agent, power, stop_reason, epoch, started_at, booted_at, last_restart_id, is_stuck, disk_iops, disk_mib_per_second, cpus, numa_node, room_vcpu, room_ram_mib, routes, dimms, rescue_generation, has_drive, iso_id, boots_iso',
  'simulated.networks': 'region_id, network_id, spec',
  'simulated.nics': 'host_id, machine, mac, kind, address, limit_mbps, epoch, bytes_per_second, received_bytes, sent_bytes, counted_at, ipv6, floating',
  'simulated.ports': 'region_id, mac, vm_id, network_id, host, addresses, limit_mbps, filter, ranges, version',
  'simulated.volumes': 'host_id, name, kind, id, vm_id, generation, parent, is_complete, capacity_bytes, size_bytes, content, checkpoints, storage_id',
}
